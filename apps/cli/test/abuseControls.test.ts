import { setBreaker, tripBreaker } from '@onecode/store';
import { buildAccount, TEST_ACTOR, useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode, onecodeHere, TIME, UNKNOWN_ID } from './onecode.js';

const TO = '+5511987654321';
const OPEN = {
  allowed_countries: 'all',
  breaker_unverified_percent: null,
  breaker_min_sends: null,
  stopped_countries: [],
  stopped_until: null,
  refused_recipients: 0,
};

const store = useTestDatabase();
let env: Record<string, string>;
let id: string;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});
beforeEach(async () => {
  id = await buildAccount(store.database);
});

const account = (...words: string[]): Promise<unknown> => jsonOf(['account', ...words], env);
/** Stops the account in a country, as a worker does. */
async function trip(country: string): Promise<void> {
  const rule = { unverifiedPercent: 90, minSends: 50 };
  await setBreaker(store.database, TEST_ACTOR, id, rule);
  const evidence = { accountId: id, country, sends: 50, unverified: 50, denying: 0, lastOpenUntil: null };
  expect(await tripBreaker(store.database, { ...evidence, rule }, 3600)).toBe(true);
}

it('a new account is open: every abuse control that can be off is off', async () => {
  expect(await account('show', id)).toMatchObject(OPEN);
});

describe('account countries', () => {
  it('keeps an account to the countries that are listed, in any case and order, until all are allowed', async () => {
    const listed = { id, ...OPEN, allowed_countries: ['BR', 'US'] };
    expect(await account('countries', id, '--allow', 'us,BR,br')).toEqual(listed);
    expect(await account('show', id)).toMatchObject({ allowed_countries: ['BR', 'US'] });
    expect(await account('countries', id, '--allow', 'all')).toEqual({ id, ...OPEN });
  });

  it('shows them in text with commas', async () => {
    const { stdout } = await onecode(['account', 'countries', id, '--allow', 'BR,US'], env);
    expect(stdout).toMatch(/^allowed countries +BR,US$/m);
    expect(stdout).toMatch(/^stopped countries +-$/m);
  });
});

describe('account breaker', () => {
  it('is set with 50 sends unless told, changed, and turned off', async () => {
    const set = (...words: string[]) => account('breaker', id, ...words);
    const rule = (percent: number | null, sends: number | null) => ({
      id,
      ...OPEN,
      breaker_unverified_percent: percent,
      breaker_min_sends: sends,
    });
    expect(await set('--unverified-percent', '90')).toEqual(rule(90, 50));
    expect(await set('--unverified-percent', '75', '--min-sends', '200')).toEqual(rule(75, 200));
    expect(await account('show', id)).toMatchObject({
      breaker_unverified_percent: 75,
      breaker_min_sends: 200,
    });
    expect(await set('--off')).toEqual(rule(null, null));
  });

  it('shows the countries in which the account is stopped, and lets them go', async () => {
    await trip('NG');
    await trip('ZZ');
    expect(await account('show', id)).toMatchObject({ stopped_countries: ['NG', 'ZZ'], stopped_until: TIME });
    expect(await account('breaker', id, '--reset')).toEqual({
      id,
      ...OPEN,
      breaker_unverified_percent: 90,
      breaker_min_sends: 50,
    });
  });
});

describe('account forgive', () => {
  it('gives a recipient the guess budget back and says how much of it was used', async () => {
    await store.sql(
      `insert into guess_budgets (account_id, mode, recipient, wrong_in_a_row, last_wrong_at) values ($1, 'live', $2, 100, now()), ($1, 'test', $2, 3, now()), ($1, 'live', '+5511987654322', 95, now())`,
      [id, TO],
    );
    expect(await account('show', id)).toMatchObject({ refused_recipients: 1 });
    const forgiven = await account('forgive', id, '--to', '+55 11 98765-4321');
    expect(forgiven).toEqual({ id, forgiven_wrong_codes: 103 });
    expect(await account('show', id)).toMatchObject({ refused_recipients: 0 });
    expect(await store.sql('select wrong_in_a_row from guess_budgets')).toEqual([{ wrong_in_a_row: 95 }]);
  });
});

it.each([
  ['countries', ['--allow', 'BR']],
  ['breaker', ['--off']],
  ['breaker', ['--reset']],
  ['breaker', ['--unverified-percent', '90']],
  ['forgive', ['--to', TO]],
])('account %s %j says that there is no such account', async (name, options) => {
  const ended = await onecode(['account', name, UNKNOWN_ID, ...options], env);
  expectFault(ended, 1, 'there is no account with this id');
});

const ONE_OF = 'exactly one of --unverified-percent, --off and --reset is required';
it.each([
  ['countries', [], /required option '--allow <list>'/],
  ['countries', ['--allow', ''], '--allow must be all or country codes'],
  ['countries', ['--allow', 'BR,'], '--allow must be all or country codes'],
  ['countries', ['--allow', 'BR,Brazil'], '--allow must be all or country codes'],
  ['countries', ['--allow', 'ZZ'], '--allow must be all or country codes'],
  ['countries', ['--allow', 'BR,all'], '--allow must be all or country codes'],
  ['breaker', [], ONE_OF],
  ['breaker', ['--off', '--reset'], ONE_OF],
  ['breaker', ['--off', '--unverified-percent', '90'], ONE_OF],
  ['breaker', ['--off', '--min-sends', '50'], '--min-sends belongs to --unverified-percent'],
  ['breaker', ['--unverified-percent', '0'], '--unverified-percent must be a whole number from 1 to 100'],
  ['breaker', ['--unverified-percent', '101'], 'from 1 to 100'],
  [
    'breaker',
    ['--unverified-percent', '90', '--min-sends', '1001'],
    '--min-sends must be a whole number from 1 to 1000',
  ],
  ['forgive', [], /required option '--to <number>'/],
  ['forgive', ['--to', '5511987654321'], '--to must be a phone number with + and country code'],
])('account %s %j is refused before anything is read', async (name, options, line) => {
  const ended = await onecodeHere(['account', name, UNKNOWN_ID, ...options]);
  expectFault(ended, 2, line);
  expect(ended.stderr).not.toContain('987654321');
});
