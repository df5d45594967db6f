import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  address,
  ConfigError,
  databaseAddress,
  oneOf,
  port,
  readConfig,
  secret,
  text,
  variable,
  wholeNumber,
} from '@onecode/runtime';

describe('readConfig', () => {
  const SPECS = {
    DATABASE_URL: databaseAddress(),
    BASE_URL: address('http://localhost'),
    PORT: port(),
    ATTEMPTS: wholeNumber(1, 20, 5),
    LEVEL: oneOf(['info', 'debug'], 'info'),
    NAME: text('onecode'),
    PEPPER: variable((value) => {
      if (value.length !== 4) throw new Error('must be 4 characters');
      return Buffer.from(value);
    }),
  };
  const GOOD = { DATABASE_URL: 'postgres://u:p@h/d', PORT: '8080', PEPPER: 'abcd' };

  function faultsOf(environment: NodeJS.ProcessEnv, specs: Parameters<typeof readConfig>[1] = SPECS) {
    try {
      readConfig(environment, specs);
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  }

  it('returns the values, with defaults for missing ones', () => {
    const config = readConfig({ ...GOOD, UNRELATED: 'x', LEVEL: 'debug' }, SPECS);
    expect({ ...config }).toEqual({
      DATABASE_URL: 'postgres://u:p@h/d',
      BASE_URL: 'http://localhost',
      PORT: 8080,
      ATTEMPTS: 5,
      LEVEL: 'debug',
      NAME: 'onecode',
      PEPPER: Buffer.from('abcd'),
    });
  });

  it('reports every fault in one line each, and in the message of the error', () => {
    const environment = { DATABASE_URL: 'mysql://x', PORT: '70000', LEVEL: 'loud' };
    const faults = [
      'DATABASE_URL must be an address that begins with postgres:// or postgresql://',
      'PORT must be a whole number from 0 to 65535',
      'LEVEL must be one of info, debug',
      'PEPPER is missing',
    ];
    expect(faultsOf(environment).toSorted()).toEqual(faults.toSorted());
    expect(() => readConfig(environment, SPECS)).toThrow(faultsOf(environment).join('\n'));
  });

  it.each(['1e1', '1_0', '0x5', '+5', '-5', '5.0', '1.000', '1,000', '٥', '５', '5n', '9'.repeat(30)])(
    'refuses %j as a number',
    (number) => {
      expect(faultsOf({ ...GOOD, ATTEMPTS: number })).toEqual([
        'ATTEMPTS must be a whole number from 1 to 20',
      ]);
    },
  );

  it('treats an empty variable as missing', () => {
    expect(faultsOf({ ...GOOD, PEPPER: '' })).toEqual(['PEPPER is missing']);
    expect(readConfig({ ...GOOD, ATTEMPTS: '', BASE_URL: '' }, SPECS)).toMatchObject({
      ATTEMPTS: 5,
      BASE_URL: 'http://localhost',
    });
  });

  it('removes white space around a value, and treats a blank value as missing', () => {
    const environment = {
      ...GOOD,
      LEVEL: 'debug\r',
      PORT: ' 8080\t',
      NAME: '\ufeffname \r\n',
      ATTEMPTS: ' \r',
    };
    expect(readConfig(environment, SPECS)).toMatchObject({
      LEVEL: 'debug',
      PORT: 8080,
      NAME: 'name',
      ATTEMPTS: 5,
    });
    expect(faultsOf({ ...GOOD, PEPPER: ' \r\n' })).toEqual(['PEPPER is missing']);
  });

  it.each([
    ['DATABASE_URL', '"postgres://leaked/d"'],
    ['PORT', "'8080'"],
    ['NAME', '`leaked`'],
    ['PEPPER', ' "abcd"\r'],
  ])('refuses quotation marks around %s=%j', (name, value) => {
    expect(faultsOf({ ...GOOD, [name]: value })).toEqual([
      `${name} has quotation marks around the value: remove them`,
    ]);
  });

  it('refuses a value with two lines', () => {
    expect(faultsOf({ ...GOOD, NAME: 'one\ntwo' })).toEqual([
      'NAME must be one line without control characters',
    ]);
  });

  it('removes trailing slashes from an address', () => {
    expect(readConfig({ ...GOOD, BASE_URL: 'https://x.test/v25.0//' }, SPECS).BASE_URL).toBe(
      'https://x.test/v25.0',
    );
  });

  it.each([
    ['DATABASE_URL', 'leaked'],
    ['DATABASE_URL', 'redis://leaked'],
    ['DATABASE_URL', 'postgres://pla nted/d'],
    ['BASE_URL', 'http://leaked:port'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '0x50'],
    ['ATTEMPTS', '21'],
    ['ATTEMPTS', '99999999999999999999'],
    ['LEVEL', 'INFO'],
    ['PEPPER', 'leaked'],
  ])('refuses %s=%j in one line without the value', (name, value) => {
    const faults = faultsOf({ ...GOOD, [name]: value });
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name} must [^\n]+$`))]);
    expect(faults.join()).not.toContain('leaked');
  });

  it.each(['onecode', '', 'public&schema=svc', '%70ublic2'])(
    'refuses a database address with the schema %j',
    (schema) => {
      const read = (text: string) =>
        readConfig(
          { URL: `postgres://u:leaked@h/d?sslmode=disable&schema=${text}` },
          { URL: databaseAddress() },
        );
      expect(() => read(schema)).toThrow(/^URL must have public as its schema$/);
      expect(read('public').URL).toMatch(/schema=public$/);
    },
  );

  it.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['ATTEMPTS', '1', 1],
    ['ATTEMPTS', '20', 20],
    [
      'DATABASE_URL',
      'postgresql://u:p%40@h:5432/d?sslmode=require',
      'postgresql://u:p%40@h:5432/d?sslmode=require',
    ],
  ] as const)('accepts %s=%j', (name, value, read) => {
    expect(readConfig({ ...GOOD, [name]: value }, SPECS)[name]).toBe(read);
  });

  describe('a secret in a file', () => {
    const SECRETS = {
      PEPPER: secret(SPECS.PEPPER),
      TOKEN: secret(text('')),
      NAME: text('onecode'),
    };
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'onecode-secrets-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    function fileWith(content: string | Buffer): string {
      const path = join(folder, 'secret');
      writeFileSync(path, content);
      return path;
    }
    it.each([
      ['abcd', 'abcd'],
      ['abcd\n', 'abcd'],
      ['abcd\r\n', 'abcd'],
      ['ab\n\n', 'ab'],
      [' ab\t', 'ab'],
      ['\ufeffab\r\n', 'ab'],
      ['a b', 'a b'],
      ['\u00e9\n', '\u00e9'],
    ])('is read from %j as %j, without surrounding white space and byte order mark', (content, value) => {
      expect(readConfig({ PEPPER: 'abcd', TOKEN_FILE: fileWith(content) }, SECRETS).TOKEN).toBe(value);
    });

    it('is read as the value of its variable', () => {
      expect({ ...readConfig({ PEPPER_FILE: fileWith('abcd\n'), TOKEN_FILE: '' }, SECRETS) }).toEqual({
        PEPPER: Buffer.from('abcd'),
        TOKEN: '',
        NAME: 'onecode',
      });
      expect(readConfig({ PEPPER: '', PEPPER_FILE: fileWith('abcd') }, SECRETS).PEPPER).toHaveLength(4);
      expect(faultsOf({ PEPPER_FILE: fileWith('leaked') }, SECRETS)).toEqual(['PEPPER must be 4 characters']);
    });

    it.each([
      [
        'missing',
        () => join(folder, 'leaked'),
        'PEPPER cannot be read: PEPPER_FILE must name a readable file in UTF-8 (ENOENT)',
      ],
      [
        'a folder',
        () => folder,
        'PEPPER cannot be read: PEPPER_FILE must name a readable file in UTF-8 (EISDIR)',
      ],
      ['empty', () => fileWith('\n'), 'PEPPER cannot be read: PEPPER_FILE must not name an empty file'],
      [
        'only a byte order mark',
        () => fileWith('\ufeff'),
        'PEPPER cannot be read: PEPPER_FILE must not name an empty file',
      ],
      [
        'in UTF-16',
        () => fileWith(Buffer.from('\ufeffleaked', 'utf16le')),
        'PEPPER cannot be read: PEPPER_FILE must name a readable file in UTF-8 (ERR_ENCODING_INVALID_ENCODED_DATA)',
      ],
      [
        'in quotation marks',
        () => fileWith('"leaked"\n'),
        'PEPPER has quotation marks around the value: remove them',
      ],
    ])('is refused in one line if the file is %s', (_, path, line) => {
      expect(faultsOf({ PEPPER_FILE: path() }, SECRETS)).toEqual([line]);
    });

    it('is refused without its value if the variable is also set', () => {
      expect(faultsOf({ PEPPER: 'abcd', PEPPER_FILE: fileWith('leak') }, SECRETS)).toEqual([
        'PEPPER and PEPPER_FILE are both set: set only one of them',
      ]);
    });

    it('is read only for variables that hold secrets', () => {
      expect(readConfig({ PEPPER: 'abcd', NAME_FILE: fileWith('other') }, SECRETS).NAME).toBe('onecode');
    });
  });
});
