import { readSettings } from '@onecode/store';
import { useTestDatabase } from '@onecode/testing';
import { expectFault, jsonOf, onecode } from './onecode.js';

const store = useTestDatabase();
let env: Record<string, string>;
beforeAll(async () => {
  env = { DATABASE_URL: store.url };
});
beforeEach(() =>
  store.sql(
    `update settings set free_sends = 10, code_validity_seconds = 600, account_rate_per_minute = 600, guess_budget = 100,
       trial_sends_per_day = 500, sign_ups_per_network_day = 20, sign_ups_per_domain_day = 100, staff_two_factor = 'optional'`,
  ),
);

const DEFAULTS = {
  free_sends: 10,
  code_validity_seconds: 600,
  account_rate_per_minute: 600,
  guess_budget: 100,
  trial_sends_per_day: 500,
  sign_ups_per_network_day: 20,
  sign_ups_per_domain_day: 100,
  staff_two_factor: 'optional',
};

it('settings get shows the defaults of the specification', async () => {
  expect(await jsonOf(['settings', 'get'], env)).toEqual(DEFAULTS);
});

it.each([
  ['free_sends', 0],
  ['free_sends', 1_000_000],
  ['code_validity_seconds', 1],
  ['code_validity_seconds', 5400],
  ['account_rate_per_minute', 1],
  ['account_rate_per_minute', 1_000_000],
  ['guess_budget', 5],
  ['guess_budget', 100],
  ['trial_sends_per_day', 0],
  ['trial_sends_per_day', 1_000_000],
  ['sign_ups_per_network_day', 1],
  ['sign_ups_per_domain_day', 1_000_000],
])('settings set %s %i changes that setting and no other', async (name, value) => {
  const changed = { ...DEFAULTS, [name]: value };
  expect(await jsonOf(['settings', 'set', name, String(value)], env)).toEqual(changed);
  expect(await readSettings(store.database)).toEqual({
    freeSends: changed.free_sends,
    codeValiditySeconds: changed.code_validity_seconds,
    accountRatePerMinute: changed.account_rate_per_minute,
    guessBudget: changed.guess_budget,
    trialSendsPerDay: changed.trial_sends_per_day,
    signUpsPerNetworkDay: changed.sign_ups_per_network_day,
    signUpsPerDomainDay: changed.sign_ups_per_domain_day,
    staffTwoFactor: changed.staff_two_factor,
  });
});

it('settings set guess_budget off turns it off, and shows so', async () => {
  expect(await jsonOf(['settings', 'set', 'guess_budget', 'off'], env)).toEqual({
    ...DEFAULTS,
    guess_budget: null,
  });
  expect((await onecode(['settings', 'get'], env)).stdout).toMatch(/^guess budget +off$/m);
  expect(await jsonOf(['settings', 'set', 'guess_budget', 'on'], env)).toEqual(DEFAULTS);
});

it('settings set staff_two_factor requires one, and no longer, whoever has one', async () => {
  for (const staff_two_factor of ['required', 'optional'])
    expect(await jsonOf(['settings', 'set', 'staff_two_factor', staff_two_factor], env)).toEqual({
      ...DEFAULTS,
      staff_two_factor,
    });
  expect((await onecode(['settings', 'get'], env)).stdout).toMatch(/^staff two factor +optional$/m);
});

it('settings set code_validity_seconds reminds of the template, in text only', async () => {
  const { stdout, stderr } = await onecode(['settings', 'set', 'code_validity_seconds', '300'], env);
  expect(stdout).toMatch(/^code validity seconds +300$/m);
  expect(stdout).toMatch(/template: it has to fit 300 seconds\.\n$/);
  expect(stderr).toBe('');
});

it.each([
  ['free_sends', '-1', 'free_sends must be a whole number from 0 to 1000000'],
  ['free_sends', '1000001', 'from 0 to 1000000'],
  ['code_validity_seconds', '0', 'code_validity_seconds must be a whole number from 1 to 5400'],
  ['code_validity_seconds', '5401', 'from 1 to 5400'],
  ['account_rate_per_minute', '0', 'account_rate_per_minute must be a whole number from 1 to 1000000'],
  ['account_rate_per_minute', '1e3', 'from 1 to 1000000'],
  ['free_sends', 'off', 'free_sends must be a whole number'],
  ['guess_budget', '4', 'guess_budget must be a whole number from 5 to 100'],
  ['guess_budget', '101', 'from 5 to 100'],
  ['guess_budget', 'none', 'guess_budget must be off, on or a whole number from 5 to 100'],
  ['trial_sends_per_day', '1000001', 'trial_sends_per_day must be a whole number from 0 to 1000000'],
  ['sign_ups_per_network_day', '0', 'from 1 to 1000000'],
  ['sign_ups_per_domain_day', 'off', 'sign_ups_per_domain_day must be a whole number'],
  ['staff_two_factor', 'off', 'staff_two_factor must be optional or required'],
  ['staff_two_factor', '1', 'staff_two_factor must be optional or required'],
  ['free_quota', '5', 'the setting must be free_sends or code_validity_seconds or account_rate_per_minute'],
])('settings set %s %s is refused and changes nothing', async (name, value, line) => {
  expectFault(await onecode(['settings', 'set', name, value], env), 2, line);
  expect(await readSettings(store.database)).toMatchObject({
    freeSends: 10,
    codeValiditySeconds: 600,
    accountRatePerMinute: 600,
    guessBudget: 100,
    staffTwoFactor: 'optional',
  });
});
