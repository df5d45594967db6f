import { changeAccount, findAccount, grantCredits } from '@onecode/store/accounts';
import { closeDatabase, openDatabase } from '@onecode/store/client';
import { createSend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();

const DAY_SECONDS = 86_400;
const MONTH_SECONDS_MAX = 31 * DAY_SECONDS;

async function limited(ceilings: Parameters<typeof changeAccount>[3]): Promise<TestCaller> {
  const caller = await buildCaller(store.database, 'live', {
    freeQuota: 3,
    credits: 1_000,
    ratePerMinute: 10_000,
  });
  await changeAccount(store.database, TEST_ACTOR, caller.accountId, ceilings);
  return caller;
}

/** Returns the outcome of a creation, or the cause of its refusal. */
async function create(caller: TestCaller, database = store.database): Promise<string> {
  const end = await createSend(database, newSend(caller));
  return 'cause' in end ? end.cause : end.outcome;
}

const used = async ({ accountId }: TestCaller) => {
  const controls = await findAccount(store.database, accountId);
  return [controls!.unitsToday, controls!.unitsThisMonth];
};

describe('a ceiling of units', () => {
  it.each([
    { ceiling: { unitsPerDay: 20 }, cause: 'day_ceiling' },
    { ceiling: { unitsPerMonth: 20 }, cause: 'month_ceiling' },
  ])(
    'allows exactly its number of units for concurrent processes and applications: $cause',
    async ({ ceiling, cause }) => {
      const caller = await limited(ceiling);
      const second = await buildCaller(store.database, 'live', { id: caller.accountId });
      // Some sends exist before, so that the ceiling counts stored and new sends.
      for (let made = 0; made < 5; made++) await buildSend(store.database, caller);
      const processes = Array.from({ length: 3 }, () => openDatabase(store.url, { connectionsMax: 4 }));

      const ends = await Promise.all(
        Array.from({ length: 90 }, (_, index) =>
          create(index % 2 === 0 ? caller : second, processes[index % processes.length]),
        ),
      );

      await Promise.all(processes.map(closeDatabase));
      expect(ends.filter((end) => end === 'created')).toHaveLength(15);
      expect(new Set(ends)).toEqual(new Set(['created', cause]));
      const [{ reserved } = { reserved: 0 }] = await store.sql<{ reserved: number }>(
        `select sum(units)::integer as reserved from ledger_entries where account_id = $1 and kind = 'reserved'`,
        [caller.accountId],
      );
      expect([reserved, ...(await used(caller))]).toEqual([20, 20, 20]);
    },
  );

  it('reopens at the end of the day or month in UTC', async () => {
    const day = await limited({ unitsPerDay: 0 });
    const month = await limited({ unitsPerMonth: 0, unitsPerDay: 0 });
    const [left] = await store.sql<{ day: number; month: number }>(
      `select extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now())::float8 as day,
         extract(epoch from (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC' - now())::float8 as month`,
    );
    const ends = await Promise.all([day, month].map((one) => createSend(store.database, newSend(one))));
    expect(ends).toMatchObject([{ cause: 'day_ceiling' }, { cause: 'month_ceiling' }]);
    const [ofDay, ofMonth] = ends.map((end) => ('retryAfterSeconds' in end ? end.retryAfterSeconds : 0));
    expect(Math.abs(ofDay! - left!.day)).toBeLessThan(60);
    expect(Math.abs(ofMonth! - left!.month)).toBeLessThan(60);
    expect(ofDay).toBeLessThanOrEqual(DAY_SECONDS);
    expect(ofMonth).toBeLessThanOrEqual(MONTH_SECONDS_MAX);
  });

  it('counts each day and each month separately', async () => {
    const caller = await limited({ unitsPerDay: 2, unitsPerMonth: 10 });
    const took = (on: string, ofDay: number, ofMonth: number) =>
      store.sql(
        `update accounts set units_on = ${on}, units_of_day = $2, units_of_month = $3 where id = $1`,
        [caller.accountId, ofDay, ofMonth],
      );
    const today = `(now() at time zone 'UTC')::date`;

    await took(`${today} - interval '1 month'`, 2, 10);
    expect(await used(caller)).toEqual([0, 0]);
    expect(await create(caller)).toBe('created');
    expect(await used(caller)).toEqual([1, 1]);

    await took(today, 1, 9);
    expect(await create(caller)).toBe('created');
    expect(await create(caller)).toBe('month_ceiling');
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { unitsPerMonth: null });
    expect(await create(caller)).toBe('day_ceiling');

    // Another day of this month: its first day or, if that is today, its second.
    await took(
      `case when extract(day from ${today}) = 1 then ${today} + 1 else date_trunc('month', ${today}) end`,
      2,
      7,
    );
    expect(await create(caller)).toBe('created');
    expect(await used(caller)).toEqual([1, 8]);
  });

  it('ignores test sends and repeated requests', async () => {
    const caller = await limited({ unitsPerDay: 1, unitsPerMonth: 1 });
    const test = await buildCaller(store.database, 'test', { id: caller.accountId });
    const send = newSend(caller, { idempotencyKey: 'again' });
    expect(await createSend(store.database, send)).toMatchObject({ outcome: 'created' });

    expect([await create(caller), await create(test), await create(test)]).toEqual([
      'month_ceiling',
      'created',
      'created',
    ]);
    expect(await createSend(store.database, send)).toMatchObject({ outcome: 'existing' });
    expect(await used(caller)).toEqual([1, 1]);
  });

  it('counts refunded units', async () => {
    const caller = await limited({ unitsPerDay: 1 });
    const id = await buildSend(store.database, caller);
    await sendActions(store).fail(id);
    expect(await used(caller)).toEqual([1, 1]);
    expect(await create(caller)).toBe('day_ceiling');
  });

  it('is checked before a unit is charged, and allows sends after it is raised', async () => {
    const caller = await limited({ unitsPerDay: 0 });
    await store.sql('update accounts set free_quota = 0, credits = 0 where id = $1', [caller.accountId]);
    expect(await create(caller)).toBe('day_ceiling');
    await changeAccount(store.database, TEST_ACTOR, caller.accountId, { unitsPerDay: 1 });
    expect(await create(caller)).toBe('insufficient_credits');
    await grantCredits(store.database, TEST_ACTOR, caller.accountId, 1, 'invoice 7');
    expect(await create(caller)).toBe('created');
  });
});
