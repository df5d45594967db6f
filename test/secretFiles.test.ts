import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess, untilReady, useTestEnvironment, type StartedProcess } from '@onecode/testing';

const environment = useTestEnvironment();
const secret = (): string => randomBytes(32).toString('base64');
const MIGRATE = 'packages/store/dist/migrate.js';

/** The secrets that each process reads. `test/configuration.test.ts` holds that these are all. */
const SECRETS = {
  api: [
    'DATABASE_URL',
    'REDIS_URL',
    'CODE_PEPPER',
    'SECRET_KEY',
    'WHATSAPP_APP_SECRET',
    'WHATSAPP_VERIFY_TOKEN',
  ],
  worker: ['DATABASE_URL', 'REDIS_URL', 'SECRET_KEY'],
  console: ['DATABASE_URL', 'REDIS_URL', 'SESSION_SECRET', 'SECRET_KEY'],
} as const;

let folder: string;
let values: Record<string, string>;
let started: StartedProcess | null = null;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-secrets-'));
  const { DATABASE_URL, REDIS_URL } = environment.variables;
  values = {
    DATABASE_URL,
    REDIS_URL,
    MIGRATE_DATABASE_URL: DATABASE_URL,
    CODE_PEPPER: secret(),
    SECRET_KEY: secret(),
    SESSION_SECRET: secret(),
    WHATSAPP_APP_SECRET: 'a planted app secret',
    WHATSAPP_VERIFY_TOKEN: 'a planted verify token',
  };
  for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), `${value}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => started?.stop());

const filesOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`${name}_FILE`, join(folder, name)]));

describe.each(['api', 'worker', 'console'] as const)('the %s', (name) => {
  const others = {
    BASE_URL: 'http://localhost:3000',
    CONSOLE_URL: 'http://localhost:3001',
    WHATSAPP_API_URL: 'http://127.0.0.1:1/v25.0',
    PORT: '0',
  };
  const start = (env: Record<string, string>): StartedProcess => {
    const { QUEUE_PREFIX } = environment.variables;
    started = startProcess(`apps/${name}/dist/main.js`, { ...others, QUEUE_PREFIX, ...env });
    return started;
  };

  it('starts with its secrets in files only, and tells none of them', async () => {
    const process = start({ ...filesOf(SECRETS[name]), LOG_LEVEL: 'trace' });
    await untilReady(process);
    expect((await process.stop()).code).toBe(0);
    expect(SECRETS[name].filter((one) => process.output().includes(values[one]!))).toEqual([]);
  });

  it('ends with one line for each file that it cannot read, and for a secret that is given twice', async () => {
    const [first, second, ...rest] = SECRETS[name];
    const process = start({
      ...filesOf([first, ...rest]),
      [first]: values[first]!,
      [`${second}_FILE`]: join(folder, 'planted'),
    });
    expect((await process.exited).code).toBe(1);
    expect(process.stderr().trimEnd().split('\n')).toEqual([
      `${name}: ${first} and ${first}_FILE are both set: only one of them may be`,
      `${name}: ${second}_FILE must be a file that can be read (ENOENT)`,
    ]);
  });
});

describe('the migrations', () => {
  it.each(['DATABASE_URL', 'MIGRATE_DATABASE_URL'])('take %s from a file', async (name) => {
    const process = startProcess(MIGRATE, filesOf([name]));
    expect((await process.exited).code).toBe(0);
    expect(process.output()).toBe('The database is up to date.\n');
  });

  it('end with one line for a file that cannot be read', async () => {
    const process = startProcess(MIGRATE, { DATABASE_URL_FILE: join(folder, 'planted') });
    expect((await process.exited).code).toBe(1);
    expect(process.output()).toBe('DATABASE_URL_FILE must be a file that can be read (ENOENT)\n');
  });
});

it('the command line takes its secrets from files', async () => {
  const add = [
    'sender',
    'add',
    '--phone-number-id',
    '1',
    '--number',
    '+15550783881',
    '--token',
    't',
    '--json',
  ];
  const files = filesOf(['DATABASE_URL', 'SECRET_KEY']);
  const process = startProcess('apps/cli/dist/main.js', { ...files, ONECODE_ACTOR: 'ana' }, add);
  expect(await process.exited).toMatchObject({ code: 0 });
  expect(JSON.parse(process.stdout())).toMatchObject({ phone_number_id: '1' });
});
