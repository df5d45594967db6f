import {
  changeSetting,
  closeDatabase,
  createAccount,
  createApplication,
  findAccount,
  grantCredits,
  limitApplication,
  newId,
  openDatabase,
  readSettings,
  SETTING_BOUNDS,
  type NewAccount,
  type NumericSetting,
  type Settings,
  type StaffTwoFactor,
} from '@onecode/store';
import {
  buildAccount,
  buildCaller,
  buildSend,
  createTestDatabase,
  startTcpProxy,
  TEST_ACTOR,
  until,
  useTestDatabase,
} from '@onecode/testing';
import pg from 'pg';

const DEFAULTS: Settings = {
  freeSends: 10,
  codeValiditySeconds: 600,
  accountRatePerMinute: 600,
  guessBudget: 100,
  trialSendsPerDay: 500,
  signUpsPerNetworkDay: 20,
  signUpsPerDomainDay: 100,
  staffTwoFactor: 'optional',
};

const store = useTestDatabase();
afterEach(() =>
  store.sql(
    `update settings set free_sends = 10, code_validity_seconds = 600, account_rate_per_minute = 600, guess_budget = 100,
       trial_sends_per_day = 500, sign_ups_per_network_day = 20, sign_ups_per_domain_day = 100, staff_two_factor = 'optional'`,
  ),
);

const ledgerOf = (accountId: string) =>
  store.sql('select kind, bucket, units, reason from ledger_entries where account_id = $1 order by id', [
    accountId,
  ]);
const make = (fields: Partial<NewAccount> = {}) =>
  createAccount(store.database, TEST_ACTOR, {
    name: 'Ana',
    language: 'en',
    freeQuota: null,
    credits: 0,
    ratePerMinute: null,
    ...fields,
  });

describe('an account', () => {
  it('takes free quota and rate from the settings, and its grant is in the ledger', async () => {
    await changeSetting(store.database, TEST_ACTOR, 'freeSends', 7);
    await changeSetting(store.database, TEST_ACTOR, 'accountRatePerMinute', 90);
    const made = await make();
    expect(made).toEqual({
      id: made.id,
      name: 'Ana',
      language: 'en',
      freeQuota: 7,
      credits: 0,
      ratePerMinute: 90,
      suspendedAt: null,
      suspensionReason: null,
      trialCountries: null,
      weight: 1,
    });
    expect(await findAccount(store.database, made.id)).toEqual(made);
    expect(await ledgerOf(made.id)).toEqual([
      { kind: 'granted', bucket: 'free_quota', units: 7, reason: 'account created' },
    ]);
  });

  it('keeps its balance when the setting changes, and follows the rate', async () => {
    const made = await make();
    await changeSetting(store.database, TEST_ACTOR, 'freeSends', 99);
    await changeSetting(store.database, TEST_ACTOR, 'accountRatePerMinute', 5);
    expect(await findAccount(store.database, made.id)).toEqual({ ...made, ratePerMinute: 5 });
  });

  it('may have its own of everything', async () => {
    const made = await make({ language: 'pt-BR', freeQuota: 0, credits: 12, ratePerMinute: 3 });
    expect(made).toMatchObject({ language: 'pt-BR', freeQuota: 0, credits: 12, ratePerMinute: 3 });
    await changeSetting(store.database, TEST_ACTOR, 'accountRatePerMinute', 5);
    expect(await findAccount(store.database, made.id)).toMatchObject({ ratePerMinute: 3 });
    expect(await ledgerOf(made.id)).toEqual([
      { kind: 'granted', bucket: 'credit', units: 12, reason: 'account created' },
    ]);
  });

  it('that the table refuses leaves nothing in the ledger', async () => {
    const [before] = await store.sql('select count(*) from ledger_entries');
    await expect(make({ credits: -1 })).rejects.toThrow();
    await expect(make({ name: '' })).rejects.toThrow();
    expect((await store.sql('select count(*) from ledger_entries'))[0]).toEqual(before);
  });

  it('is null when there is none', async () => {
    expect(await findAccount(store.database, newId())).toBeNull();
  });
});

describe('credits', () => {
  it('are added with their reason in the ledger', async () => {
    const { id } = await make({ freeQuota: 0 });
    expect(await grantCredits(store.database, TEST_ACTOR, id, 25, 'invoice 7')).toMatchObject({
      id,
      credits: 25,
    });
    expect(await grantCredits(store.database, TEST_ACTOR, id, 5, 'goodwill')).toMatchObject({ credits: 30 });
    expect(await ledgerOf(id)).toEqual([
      { kind: 'granted', bucket: 'credit', units: 25, reason: 'invoice 7' },
      { kind: 'granted', bucket: 'credit', units: 5, reason: 'goodwill' },
    ]);
  });

  it('are lost by none of many grants at once', async () => {
    const { id } = await make({ freeQuota: 0 });
    await Promise.all(
      Array.from({ length: 30 }, () => grantCredits(store.database, TEST_ACTOR, id, 2, 'many')),
    );
    expect(await findAccount(store.database, id)).toMatchObject({ credits: 60 });
    expect(await ledgerOf(id)).toHaveLength(30);
  });

  it.each([0, -5, 2 ** 31])('are not granted in an amount of %d, and nothing changes', async (amount) => {
    const { id } = await make({ freeQuota: 0, credits: 10 });
    await expect(grantCredits(store.database, TEST_ACTOR, id, amount, 'wrong')).rejects.toThrow();
    expect(await findAccount(store.database, id)).toMatchObject({ credits: 10 });
    expect(await ledgerOf(id)).toHaveLength(1);
  });

  it('keep the account locked for no longer than the database takes, however late its answers are read', async () => {
    const { id } = await make({ freeQuota: 0 });
    const proxy = await startTcpProxy(store.url);
    const far = openDatabase(proxy.url, { connectionsMax: 1 });
    const lock = new pg.Client({ connectionString: store.url });
    await lock.connect();
    try {
      await far.sql.query`select 1`;
      // The grant waits for the account; from then on no answer comes through.
      await lock.query('begin');
      await lock.query('select from accounts where id = $1 for no key update', [id]);
      const granted = grantCredits(far, TEST_ACTOR, id, 25, 'from afar');
      await until('the grant that waits', async () => {
        const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await store.sql(waiting)).length === 1;
      });
      proxy.freeze('replies');
      await lock.query('rollback');
      await until(
        'an account that is free, with its credits',
        async () => {
          const free = await store.sql<{ credits: number }>(
            'select credits from accounts where id = $1 for no key update skip locked',
            [id],
          );
          return free[0]?.credits === 25;
        },
        3_000,
      );
      await proxy.open();
      expect(await granted).toMatchObject({ credits: 25 });
    } finally {
      await lock.end();
      await proxy.close();
      await closeDatabase(far);
    }
  });

  it.each([2, 6])(
    'are granted once by %i requests at once with the same id, and all are told alike',
    async (count) => {
      const [{ id }, other] = [await make({ freeQuota: 0 }), await make({ freeQuota: 0 })];
      const grantId = newId();
      const grant = (account: string, amount: number, reason = 'once') =>
        grantCredits(store.database, TEST_ACTOR, account, amount, reason, grantId);
      const granted = await Promise.all(Array.from({ length: count }, () => grant(id, 5)));
      expect(granted.map((account) => account?.credits)).toEqual(Array(count).fill(5));
      const refused = { why: 'other_grant' };
      await expect(grant(id, 6)).rejects.toMatchObject(refused);
      await expect(grant(id, 5, 'twice')).rejects.toMatchObject(refused);
      await expect(grant(other.id, 5)).rejects.toMatchObject(refused);
      expect(await ledgerOf(id)).toHaveLength(1);
      expect(await ledgerOf(other.id)).toEqual([]);
      await expect(
        grantCredits(store.database, TEST_ACTOR, id, 2_000_000_000, 'too many'),
      ).rejects.toMatchObject({ why: 'too_many' });
    },
  );

  it('of one id go to one of many accounts that are given them at once', async () => {
    const grantId = newId();
    const accounts = await Promise.all(Array.from({ length: 8 }, () => make({ freeQuota: 0 })));
    const outcomes = await Promise.allSettled(
      accounts.map(({ id }) => grantCredits(store.database, TEST_ACTOR, id, 5, 'one', grantId)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const entries = await Promise.all(accounts.map(({ id }) => ledgerOf(id)));
    expect(entries.flat()).toHaveLength(1);
  });

  it('go to nobody when there is no such account', async () => {
    const id = newId();
    expect(await grantCredits(store.database, TEST_ACTOR, id, 5, 'nobody')).toBeNull();
    expect(await ledgerOf(id)).toEqual([]);
  });
});

describe('the settings', () => {
  it('begin with the specification’s defaults', async () => {
    const fresh = await createTestDatabase();
    expect(await readSettings(fresh.database)).toEqual(DEFAULTS);
    await fresh.drop();
  });

  it.each(Object.keys(SETTING_BOUNDS) as NumericSetting[])('take %s from bound to bound', async (name) => {
    const { min, max } = SETTING_BOUNDS[name];
    for (const value of [min, max]) {
      expect(await changeSetting(store.database, TEST_ACTOR, name, value)).toEqual({
        ...DEFAULTS,
        [name]: value,
      });
      expect(await readSettings(store.database)).toEqual({ ...DEFAULTS, [name]: value });
    }
    for (const value of [min - 1, max + 1, 1.5, Number.NaN, 2 ** 40])
      await expect(changeSetting(store.database, TEST_ACTOR, name, value)).rejects.toThrow();
    expect(await readSettings(store.database)).toEqual({ ...DEFAULTS, [name]: max });
  });

  it('may turn the guess budget off, and nothing else', async () => {
    expect(await changeSetting(store.database, TEST_ACTOR, 'guessBudget', null)).toEqual({
      ...DEFAULTS,
      guessBudget: null,
    });
    for (const name of (Object.keys(DEFAULTS) as (keyof Settings)[]).filter((one) => one !== 'guessBudget'))
      await expect(
        changeSetting(store.database, TEST_ACTOR, name, null as unknown as number),
      ).rejects.toThrow();
    expect(await readSettings(store.database)).toEqual({ ...DEFAULTS, guessBudget: null });
  });

  it('say whether staff need a second factor, in one of two words', async () => {
    const set = (word: string) =>
      changeSetting(store.database, TEST_ACTOR, 'staffTwoFactor', word as StaffTwoFactor);
    expect(await set('required')).toEqual({ ...DEFAULTS, staffTwoFactor: 'required' });
    for (const wrong of ['off', '', 'Required', null as unknown as string])
      await expect(set(wrong)).rejects.toThrow();
    expect(await readSettings(store.database)).toEqual({ ...DEFAULTS, staffTwoFactor: 'required' });
    expect(await set('optional')).toEqual(DEFAULTS);
  });

  it('give new sends their validity, and leave the old ones theirs', async () => {
    const caller = await buildCaller(store.database, 'test');
    const lives = async () =>
      (
        await store.sql<{ life: number }>(
          'select extract(epoch from expires_at - created_at)::int as life from sends where account_id = $1 order by account_number',
          [caller.accountId],
        )
      ).map(({ life }) => life);
    await buildSend(store.database, caller);
    await changeSetting(store.database, TEST_ACTOR, 'codeValiditySeconds', 45);
    await buildSend(store.database, caller);
    expect(await lives()).toEqual([600, 45]);
  });
});

describe('an application', () => {
  it('belongs to an account and begins without limits', async () => {
    const accountId = await buildAccount(store.database);
    const made = await createApplication(store.database, TEST_ACTOR, {
      accountId,
      name: 'Shop',
      mode: 'live',
    });
    expect(made).toEqual({
      id: made!.id,
      accountId,
      name: 'Shop',
      mode: 'live',
      identityCheck: 'off',
      perMinute: null,
      perRecipientHour: null,
    });
  });

  it('is not made for an account that is not there', async () => {
    expect(
      await createApplication(store.database, TEST_ACTOR, { accountId: newId(), name: 'Shop', mode: 'live' }),
    ).toBeNull();
  });

  it('has each limit set, kept and turned off by itself', async () => {
    const { applicationId: id } = await buildCaller(store.database, 'test');
    const limits = async (change: { perMinute?: number | null; perRecipientHour?: number | null }) => {
      const { perMinute, perRecipientHour } = (await limitApplication(
        store.database,
        TEST_ACTOR,
        id,
        change,
      ))!;
      return [perMinute, perRecipientHour];
    };
    expect(await limits({ perMinute: 60 })).toEqual([60, null]);
    expect(await limits({ perRecipientHour: 5 })).toEqual([60, 5]);
    expect(await limits({})).toEqual([60, 5]);
    expect(await limits({ perMinute: null })).toEqual([null, 5]);
    await expect(limits({ perMinute: 0 })).rejects.toThrow();
    expect(await limitApplication(store.database, TEST_ACTOR, newId(), { perMinute: 60 })).toBeNull();
  });
});
