import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTcpProxy, startTcpServer } from '@onecode/testing';
import { withDatabase } from '../src/database.js';
import { UserError } from '../src/errors.js';
import {
  expectFault,
  MAIN,
  onecode,
  onecodeProcess,
  UNKNOWN_ID,
  useCommandLine,
  type Ended,
} from './onecode.js';

const commandLine = useCommandLine();

/** Nothing listens on port 1, so commands that open the database report that it cannot be used. */
const NOWHERE = { DATABASE_URL: 'postgres://operator:leaked-password@127.0.0.1:1/onecode' };
const KEY = 'ak_live_0123456789ABCDEFGHIJKLMNOPQ012345';
const TOKEN = 'EAAGplantedToken';

const CREATE = ['account', 'create'];
const CREDIT = ['account', 'credit', UNKNOWN_ID];
const MAKE = ['application', 'create', '--account', UNKNOWN_ID, '--name', 'Shop'];
const LIMITS = ['application', 'limits', UNKNOWN_ID];
const COUNTRIES = ['account', 'countries', UNKNOWN_ID];
const BREAKER = ['account', 'breaker', UNKNOWN_ID];
const CEILING = ['account', 'ceiling', UNKNOWN_ID];
const ONE_OF = 'exactly one of --unverified-percent, --off and --reset is required';
const USER = ['user', 'create', '--email', 'x@example.com', '--name', 'Ana'];
const ADD = ['sender', 'add', '--phone-number-id', '1', '--number', '+15550783881', '--token', TOKEN];
const ASSIGN = ['sender', 'assign', UNKNOWN_ID];
/** A repeated option overrides the earlier one. */
const ADD_WITH = (...rest: string[]): string[] => [...ADD, ...rest];

/** Returns the typed command, shortened for a test's name. */
function named(args: readonly string[]): string {
  const words = args.map((arg) => {
    if (arg === UNKNOWN_ID) return 'ID';
    return /^[\w+@.=-]+$/.test(arg) ? arg.replace(/^(.{40}).+$/, '$1…') : JSON.stringify(arg);
  });
  return ['onecode', ...words].join(' ');
}

/** Spellings of numbers that are refused, so that none is read as another number. */
const NO_NUMBERS = [
  '1,000',
  '2.500',
  '1.5',
  '1e3',
  '0x10',
  ' 5 ',
  '5.0',
  '+5',
  '-5',
  '1_000',
  '1 000',
  '१',
  '５',
  '',
  '9'.repeat(20),
];
const AMOUNT = [...CREDIT, '--reason', 'r', '--amount'];
const NUMBERS: readonly [string[], string][] = [
  [AMOUNT, '--amount must be a whole number'],
  [[...CREATE, '--name', 'a', '--free-quota'], '--free-quota must be a whole number'],
  [[...CREATE, '--name', 'a', '--credits'], '--credits must be a whole number'],
  [['account', 'rate', UNKNOWN_ID], 'the rate must be a whole number'],
  [[...CEILING, '--day'], '--day must be a whole number'],
  [[...BREAKER, '--unverified-percent'], '--unverified-percent must be a whole number'],
  [[...LIMITS, '--per-minute'], '--per-minute must be off, on or a whole number'],
  [['settings', 'set', 'free_sends'], 'free_sends must be a whole number'],
  [['settings', 'set', 'retain_sends_days'], 'retain_sends_days must be off, on or a whole number'],
  [['sender', 'throughput', UNKNOWN_ID], 'the throughput must be a whole number'],
  [['cost', 'list', '--days'], '--days must be a whole number'],
  [['audit', 'list', '--limit'], '--limit must be a whole number'],
];

describe('a usage error', () => {
  const rows: [string[], RegExp | string][] = [
    [[], /a command is missing: expected one of account, application, key, settings, sender/],
    [['--json'], /a command is missing/],
    [['acount', 'create'], /unknown command: expected one of account/],
    [[KEY], /unknown command/],
    [['account'], /a command is missing: expected one of create, show, credit, .*see onecode account --help/],
    [['key', KEY], /unknown command/],
    [['key', 'list'], /key list needs --application or --hint/],
    [['key', 'list', '--hint', KEY], /--hint must be the last four characters of a key/],
    [['key', 'create'], /required option '--application <id>' not specified; see onecode key create --help/],

    [CREATE, /required option '--name <text>' not specified/],
    [[...CREATE, '--name', '--langauge', 'en'], '--name needs a value'],
    [
      [...CREATE, '--name', 'a', '--langauge', 'en'],
      /unknown option --langauge \(did you mean --language\?\)/,
    ],
    [[...CREATE, '--name', 'a', 'b'], /too many arguments/],
    [[...CREATE, '--name', ''], '--name must be 1 to 200 characters'],
    [[...CREATE, '--name', 'a'.repeat(201)], '--name must be 1 to 200 characters'],
    [[...CREATE, '--name', 'two\nlines'], 'without control characters'],
    [[...CREATE, '--name', 'a', '--language', 'pt'], '--language must be pt-BR or en'],
    [
      [...CREATE, '--name', 'a', '--free-quota', '-1'],
      '--free-quota must be a whole number from 0 to 1000000000',
    ],
    [[...CREATE, '--name', 'a', '--free-quota', '1.5'], '--free-quota must be a whole number'],
    [
      [...CREATE, '--name', 'a', '--credits', '1000000001'],
      '--credits must be a whole number from 0 to 1000000000',
    ],
    [[...CREATE, '--name', 'a', '--rate-per-minute', '0'], 'must be a whole number from 1 to 1000000'],
    [['account', 'show', 'x'], 'the account must be an id'],
    [[...CREDIT, '--reason', 'r'], /required option '--amount <number>'/],
    [[...CREDIT, '--amount', '1'], /required option '--reason <text>'/],
    [[...CREDIT, '--amount', '0', '--reason', 'r'], '--amount must be a whole number from 1 to 1000000000'],
    [
      [...CREDIT, '--amount', '1', '--reason', 'r', '--last-day', '2026-02-30'],
      '--last-day must be a day, such as 2027-01-31',
    ],
    [
      [...CREDIT, '--amount', '1', '--reason', 'r', '--last-day', '2026-01-31'],
      '--last-day must be today or later',
    ],

    [MAKE, /required option '--mode <mode>'/],
    [[...MAKE, '--mode', 'LIVE'], '--mode must be test or live'],
    [LIMITS, 'at least one of --per-minute and --per-recipient-hour is required'],
    [[...LIMITS, '--per-minute', '0'], '--per-minute must be a whole number from 1 to 1000000'],
    [[...LIMITS, '--per-minute', 'none'], '--per-minute must be off, on or a whole number from 1 to 1000000'],

    [['key', 'create', '--application', 'x'], '--application must be an id'],
    ...['0', '3651', '1.5', '-1'].map((days): [string[], string] => [
      ['key', 'create', '--application', UNKNOWN_ID, '--expires-in-days', days],
      '--expires-in-days must be a whole number from 1 to 3650',
    ]),
    [['key', 'revoke', KEY], "the key's id must be an id"],
    [['key', 'revoke', UNKNOWN_ID, KEY], /too many arguments/],

    [['settings', 'set', 'freeSends', '5'], 'the setting must be free_sends or'],
    ...[
      ['free_sends', '-1', 'free_sends must be a whole number from 0 to 1000000'],
      ['free_sends', 'off', 'free_sends must be a whole number'],
      ['code_validity_seconds', '5401', 'from 1 to 5400'],
      ['account_rate_per_minute', '1e3', 'from 1 to 1000000'],
      ['guess_budget', '4', 'guess_budget must be a whole number from 5 to 100'],
      ['guess_budget', 'none', 'guess_budget must be off, on or a whole number from 5 to 100'],
      ['trial_sends_per_day', '1000001', 'trial_sends_per_day must be a whole number from 0 to 1000000'],
      ['sign_ups_per_network_day', '0', 'from 1 to 1000000'],
      ['staff_two_factor', '1', 'staff_two_factor must be optional or required'],
    ].map(([name, value, line]): [string[], string] => [['settings', 'set', name!, value!], line!]),

    [ADD.slice(0, 6), /required option '--token <token>'/],
    [ADD_WITH('--phone-number-id', '12a'), '--phone-number-id must be 1 to 32 digits'],
    [ADD_WITH('--number', '15550783881'), '--number must be a phone number with + and country code'],
    ...[`${TOKEN} ${TOKEN}`, '', `"${TOKEN}"`, `'${TOKEN}'`, `<${TOKEN}>`, `${TOKEN},`].map(
      (token): [string[], string] => [ADD_WITH('--token', token), '--token must be 1 to 4096 letters'],
    ),
    [ADD_WITH(TOKEN), /too many arguments/],
    [ADD_WITH(`--tokn=${TOKEN}`), /unknown option --tokn/],
    [ADD_WITH(`-${TOKEN}`), /unknown option;/],
    [ADD_WITH(`--token${TOKEN}`), /unknown option(;| \()/],
    [ADD_WITH('--template', 'Verification'), '--template must be 1 to 512 lower-case letters'],
    [ADD_WITH('--english', 'en_GB'), '--english must be en or en_US'],
    [ADD_WITH('--throughput', '0'), '--throughput must be a whole number from 1 to 1000'],
    [['sender', 'throughput', UNKNOWN_ID], /missing required argument 'number'/],
    [['sender', 'throughput', UNKNOWN_ID, 'off'], 'the throughput must be a whole number from 1 to 1000'],
    [['sender', 'edit', UNKNOWN_ID], 'at least one option is required'],
    [['sender', 'app', UNKNOWN_ID], 'exactly one of --secret and --none is required'],
    [ASSIGN, 'exactly one of --account and --shared is required'],
    [[...ASSIGN, '--account', UNKNOWN_ID, '--shared'], 'exactly one of --account and --shared is required'],
    [[...ASSIGN, '--shared', '--application', UNKNOWN_ID], '--application needs --account'],
    [['sender', 'check', UNKNOWN_ID, '--pin', '-'], '--pin needs --fix'],

    [[...COUNTRIES], /required option '--allow <list>'/],
    ...['', 'BR,', 'BR,Brazil', 'ZZ', 'BR,all', '44', '+999', 'BR,+'].map((list): [string[], string] => [
      [...COUNTRIES, '--allow', list],
      '--allow must be all, or country codes',
    ]),
    [BREAKER, ONE_OF],
    [[...BREAKER, '--off', '--reset'], ONE_OF],
    [[...BREAKER, '--off', '--min-sends', '50'], '--min-sends needs --unverified-percent'],
    [[...BREAKER, '--unverified-percent', '0'], '--unverified-percent must be a whole number from 1 to 100'],
    [CEILING, 'at least one of --day and --month is required'],
    [['account', 'premium-rate', UNKNOWN_ID, 'yes'], 'the value must be on or off'],
    [['account', 'forgive', UNKNOWN_ID, '--to', '5511987654321'], '--to must be a phone number with +'],
    [['application', 'set', UNKNOWN_ID, 'identity_check', 'on'], /off or observe or enforce/],
    [['cost', 'list', '--days', '0'], '--days must be a whole number'],
    [['cost', 'price', 'Brazil', '1', '--currency', 'USD'], 'the country must be a country code'],
    [['cost', 'price', 'BR', '1,5', '--currency', 'USD'], 'the price must be off or a number'],
    [['cost', 'price', 'BR', '1', '--currency', 'R$'], '--currency must be a code such as USD'],
    [['cost', 'price', 'BR', '1', '--currency', 'USD', '--since', '2026-13'], '--since must be a month'],

    [[...USER, '--password', 'seven purple kettles'], 'read from standard input'],
    [[...USER, '--account', UNKNOWN_ID], '--account and --role must be given together'],
    [[...USER, '--email', 'ana'], '--email must be an email address'],
    [[...USER, '--staff', 'admin'], '--staff must be operator or on-call or none'],

    [['hold', 'set', 'sender', '--reason', 'r'], 'the kind must be live or country or account'],
    [['hold', 'set', 'live', 'BR', '--reason', 'r'], 'live takes no target'],
    [['hold', 'set', 'country', '--reason', 'r'], 'the target must be a country code such as BR'],
    [['hold', 'set', 'account', KEY, '--reason', 'r'], "the target must be an account's id"],
    [['audit', 'list', '--limit', '1001'], '--limit must be a whole number from 1 to 1000'],
  ];
  function expectUsageError(ended: Ended, line: RegExp | string): void {
    expectFault(ended, 2, line);
    for (const typed of [KEY, TOKEN, '987654321']) expect(ended.stderr).not.toContain(typed);
  }

  it.each(rows.map(([args, line]) => ({ name: named(args), args, line })))(
    'exits with 2 after one line, before any input is read: $name',
    async ({ args, line }) => {
      expectUsageError(await onecode(args), line);
    },
  );

  it.each(NUMBERS.map(([args, line]) => ({ name: named(args), args, line })))(
    'exits with 2 for a number that is not plain digits: $name',
    async ({ args, line }) => {
      for (const number of args === AMOUNT ? NO_NUMBERS : ['1,000', '2.500', '1e3'])
        expectUsageError(await onecode([...args, number]), line);
    },
  );

  it('exits with 2 for a price that is not a decimal number with a point', async () => {
    for (const price of NO_NUMBERS.filter((one) => !['2.500', '1.5', '5.0'].includes(one)))
      expectUsageError(
        await onecode(['cost', 'price', 'BR', '--currency', 'USD', price]),
        'the price must be off or a number',
      );
  });

  it('exits with 2 in a separate process', async () => {
    const [args, line] = rows.at(-1)!;
    expectUsageError(await onecodeProcess(args), line);
  });
});

describe('a failed command', () => {
  it.each([
    [{}, 'DATABASE_URL is missing'],
    [{ DATABASE_URL: '' }, 'DATABASE_URL is missing'],
    [
      { DATABASE_URL: 'mysql://u:leaked-password@h/d' },
      'DATABASE_URL must be an address that begins with postgres:// or postgresql://',
    ],
    [NOWHERE, 'the database cannot be used (connect ECONNREFUSED '],
  ])('exits with 1 after one line with %j', async (env, line) => {
    const ended = await onecode(['settings', 'get', '--json'], env);
    expectFault(ended, 1, line);
    expect(ended.stderr).not.toContain('leaked-password');
  });

  it('exits with 1 after one line when the database accepts the connection and never answers', async () => {
    const port = await startTcpServer();
    for (const args of [
      ['settings', 'get'],
      ['settings', 'set', 'free_sends', '5'],
    ]) {
      const ended = await onecode(args, { DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d` });
      expectFault(ended, 1, 'the database cannot be used (');
    }
    const env = { DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d` };
    const { stderr } = await onecode([...CREDIT, '--amount', '5', '--reason', 'r'], env);
    expect(stderr).toMatch(
      /cannot be used \(.*\): to avoid a second grant, retry with --grant-id [0-9a-f-]{36}\n$/,
    );
  });

  it('exits with 1 after one line when the password is wrong, the database is missing, or it was never migrated', async () => {
    const url = new URL(process.env['TEST_DATABASE_URL'] ?? '');
    const get = (change: Partial<URL>) =>
      onecode(['settings', 'get'], { DATABASE_URL: Object.assign(new URL(url), change).href });
    const wrong = await get({ password: 'leaked-password' });
    expectFault(wrong, 1, 'the database cannot be used (password authentication failed for user ');
    expectFault(
      await get({ pathname: '/nothing_here' }),
      1,
      'the database cannot be used (database "nothing_here" does not exist)',
    );
    expectFault(
      await get({ pathname: '/template1' }),
      1,
      'the database has no tables, or those of an older release: run npm run migrate',
    );
  });

  it('reports a lost connection when the database stops while the command runs', async () => {
    const proxy = await startTcpProxy(commandLine.store.url);
    const before = process.env;
    process.env = { DATABASE_URL: proxy.url };
    try {
      const ended = withDatabase(async ({ sql }) => {
        await proxy.refuse();
        await sql.query`select 1`.catch(() => {});
        await sql.query`select 1`;
      });
      await expect(ended).rejects.toEqual(new UserError('the connection to the database was lost'));
    } finally {
      process.env = before;
    }
  });
});

it('onecode accepts --json anywhere in its arguments', async () => {
  for (const args of [
    ['--json', 'settings', 'get'],
    ['settings', '--json', 'get'],
    ['settings', 'get', '--json'],
  ])
    expectFault(await onecode(args, NOWHERE), 1, 'the database cannot be used (');
});

describe('--help', () => {
  const helpOf = (command: readonly string[]): Promise<Ended> => onecode([...command, '--help']);
  /** Returns the commands that a help text lists. */
  const membersOf = ({ stdout }: Ended): string[] =>
    [...(/^Commands:$(.*?)(?:^$|(?![^]))/ms.exec(stdout)?.[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== 'help');

  async function check(command: readonly string[]): Promise<number> {
    const help = await helpOf(command);
    const { code, stdout, stderr } = help;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(['Usage: onecode', ...command].join(' '));
    expect(stdout).toMatch(new RegExp(`^Example:\\n {2}\\$ ${['onecode', ...command].join(' ')}`, 'm'));
    expect(stdout).toContain('--json');
    let count = 1;
    for (const member of membersOf(help)) count += await check([...command, member]);
    return count;
  }

  it('prints an example for every command, without any variables', async () => {
    expect(await check([])).toBeGreaterThan(50);
  });
});

it('--version prints the version of the release', async () => {
  const release = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(release) as { version: string };
  expect(await onecodeProcess(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('the variables of a command', () => {
  const NO_SUCH = { DATABASE_URL: 'postgres://operator@127.0.0.1:1/onecode' };
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'onecode-cli-'));
    mkdirSync(join(folder, '.data'));
    writeFileSync(join(folder, '.data/environment.json'), JSON.stringify(commandLine.env));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const runInFolder = (args: readonly string[], env: Record<string, string> = {}) =>
    onecode([...args, '--json'], env, '', false, folder);

  it('come from the Onecode that npm start runs in the folder', async () => {
    expect(await runInFolder(['account', 'list'])).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    expect(await runInFolder(ADD, { DATABASE_URL: '' })).toMatchObject({ code: 0, stderr: '' });
  });

  it('are never taken from npm start, not even keys, when DATABASE_URL is set', async () => {
    expectFault(await runInFolder(['account', 'list'], NO_SUCH), 1, 'ECONNREFUSED');
    const { DATABASE_URL } = commandLine.env as { DATABASE_URL: string };
    expectFault(await runInFolder(ADD, { DATABASE_URL }), 1, 'SECRET_KEY is missing');
  });

  it('can be read from files', async () => {
    const files = Object.entries(commandLine.env).map(([name, value]) => {
      const file = join(folder, name);
      writeFileSync(file, `${value}\n`);
      return [`${name}_FILE`, file] as const;
    });
    const add = ['sender', 'add', '--phone-number-id', '2', '--number', '+15550783882', '--token', TOKEN];
    const ended = await onecode([...add, '--json'], Object.fromEntries(files));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('are required in a folder without a running npm start', async () => {
    const line = 'DATABASE_URL is missing: set it, or run npm start in this folder';
    expectFault(await onecode(['account', 'list']), 1, line);
  });
});

describe('the actor in the audit log', () => {
  const CHANGE = ['account', 'create', '--name', 'A'];
  const { store } = commandLine;
  /** The variables of a process in an image. */
  const image = () => ({ ...commandLine.env, NODE_ENV: 'production' });
  /** Returns the actor of the newest audit entry and the number of entries. */
  const log = async (): Promise<[string | undefined, number]> => {
    const entries = await store.sql<{ actor_name: string }>(
      'select actor_name from audit_entries order by id',
    );
    return [entries.at(-1)?.actor_name, entries.length];
  };

  it.each(['deploy-bot@ci #4711', 'é'.repeat(200), '王芳'])(
    'is the name in ONECODE_ACTOR: %s',
    async (name) => {
      expect(await onecode(CHANGE, { ...commandLine.env, ONECODE_ACTOR: name })).toMatchObject({ code: 0 });
      expect((await log())[0]).toBe(name);
    },
  );

  it.each([
    ['two lines', 'Ana\nSouza'],
    ['a control character', 'Ana\u001b[31m'],
    ['a character that reverses the line', 'Ana\u202e'],
    ['more than 200 characters', 'a'.repeat(201)],
  ])('cannot be a name with %s: the command is refused and changes nothing', async (_, name) => {
    const before = await log();
    const ended = await onecode(CHANGE, { ...commandLine.env, ONECODE_ACTOR: name });
    expectFault(ended, 1, 'ONECODE_ACTOR must be one line of 1 to 200 visible characters');
    expect(await log()).toEqual(before);
  });

  it('must be named for a change in an image without a terminal', async () => {
    const before = await log();
    for (const unnamed of [{}, { ONECODE_ACTOR: '' }])
      expectFault(await onecode(CHANGE, { ...image(), ...unnamed }), 1, 'ONECODE_ACTOR is missing');
    expectFault(await onecodeProcess(CHANGE, image()), 1, 'ONECODE_ACTOR is missing');
    expect(await log()).toEqual(before);
    expect(await onecode(['settings', 'get'], image())).toMatchObject({ code: 0 });
    expect(await onecode(CHANGE, { ...image(), ONECODE_ACTOR: 'ci' })).toMatchObject({ code: 0 });
    expect((await log())[0]).toBe('ci');
  });

  it('is the user of the operating system outside an image, and at a terminal in an image', async () => {
    expect(await onecode(CHANGE, commandLine.env)).toMatchObject({ code: 0 });
    expect((await log())[0]).toBe(userInfo().username);
    await onecode(CHANGE, { ...commandLine.env, ONECODE_ACTOR: 'another actor' });
    // `script` of util-linux gives the command a terminal.
    const command = [process.execPath, MAIN, ...CHANGE].join(' ');
    await promisify(execFile)('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...image(), PATH: process.env['PATH'] },
    });
    expect((await log())[0]).toBe(userInfo().username);
  });
});
