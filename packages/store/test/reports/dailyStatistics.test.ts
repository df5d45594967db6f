import { DELIVERY_STATES, type Receipt } from '@onecode/domain';
import { changeSettings, deleteAccount } from '@onecode/store/accounts';
import { overview, type Overview } from '@onecode/store/reports';
import { applyRetention, storeReports } from '@onecode/store/sends';
import {
  buildCaller,
  buildSender,
  refuseWrites,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';
import { insertSends, type PastSend } from './pastSends.js';
import { secondsWithin, TIME_BOUNDS } from '../../src/reports/sendCounts.js';

const store = useTestDatabase();
const DAY_MS = 86_400_000;
const now = Date.now();
const today = Math.floor(now / DAY_MS) * DAY_MS;
const always = new AbortController().signal;

let callers: TestCaller[];
let live: TestCaller;
beforeEach(async () => {
  await store.sql('truncate accounts, senders, attempts, provider_reports cascade');
  await store.sql('update cursors set position = default');
  await changeSettings(store.database, TEST_ACTOR, { retainSendsDays: null });
  await buildSender(store.database);
  live = await buildCaller(store.database, 'live');
  callers = [
    live,
    await buildCaller(store.database, 'live', { id: live.accountId }),
    await buildCaller(store.database, 'test', { id: live.accountId }),
    await buildCaller(store.database, 'live'),
  ];
});

const fold = () => applyRetention(store.database, always);
const chart = (of = live): Promise<Overview> =>
  overview(store.database, of.accountId, {
    from: new Date(today - 40 * DAY_MS),
    to: new Date(today + DAY_MS),
    bucket: 'day',
    timeZone: 'UTC',
  });

/** Sends of the last days: all of them finished, or some still waiting. */
const histories = (states: readonly PastSend['status'][]): fc.Arbitrary<PastSend[]> =>
  fc
    .array(
      fc.record({
        caller: fc.nat(3),
        age: fc.integer({ min: 3_600_000, max: 28 * DAY_MS }),
        locale: fc.constantFrom('pt-BR' as const, 'en' as const),
        status: fc.constantFrom(...states),
        verification: fc.constantFrom('verified' as const, 'pending' as const, 'locked' as const),
        deliveryMs: fc.nat(4_000_000),
      }),
      { minLength: 50, maxLength: 150 },
    )
    .map((sends) =>
      sends.map(({ caller: n, age, status, ...send }) => {
        const caller = callers[n]!;
        return {
          ...send,
          caller,
          at: new Date(now - age),
          recipient: '+5511987654321',
          status: caller.mode === 'test' ? ('read' as const) : status,
        };
      }),
    );
const OVER = DELIVERY_STATES.slice(2);
const history = (seed: number): PastSend[] => fc.sample(histories(OVER), { numRuns: 1, seed })[0]!;

/** Returns the expected rows, counted directly from all sends before a time, and the rows of the table. */
async function countAndReport(before: number): Promise<[unknown[], unknown[]]> {
  const columns = `application_id, day, country, locale, created, delivered, verified,
    expired_before_delivery, attempts_exhausted, rejected_by_provider, undelivered`;
  const counted = await store.sql(
    `select application_id, date_trunc('day', created_at)::date as day, country, locale, count(*)::integer as created,
       sum((status in ('delivered', 'read'))::integer)::integer as delivered, count(verified_at)::integer as verified,
       0 as expired_before_delivery, 0 as attempts_exhausted, count(failed_at)::integer as rejected_by_provider,
       sum((status = 'sent' and verified_at is null)::integer)::integer as undelivered
     from sends where created_at < $1 group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    [new Date(before)],
  );
  return [counted, await store.sql(`select ${columns} from daily_statistics order by 1, 2, 3, 4`)];
}

it('aggregateDays keeps the counts of all sends, even after the sends are deleted', async () => {
  await fc.assert(
    fc.asyncProperty(histories(OVER), async (sends) => {
      await store.sql('truncate sends, daily_statistics cascade');
      await store.sql('update cursors set position = default');
      await insertSends(store, sends);
      const before = [await chart(), await chart(callers[3])];
      await fold();
      const [counted, reported] = await countAndReport(today - 8 * DAY_MS);
      expect(reported).toEqual(counted);
      expect([await chart(), await chart(callers[3])]).toEqual(before);
      await store.sql(
        `delete from sends where id < (select position from cursors where name = 'statistics')`,
      );
      expect([await chart(), await chart(callers[3])]).toEqual(before);
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

it('overview orders equal counts independently of their aggregation', async () => {
  const [one, other] = history(1)
    .filter(({ caller }) => caller === live)
    .slice(0, 2);
  await insertSends(store, [
    { ...one!, locale: 'en', at: new Date(now - 20 * DAY_MS) },
    { ...other!, locale: 'pt-BR', at: new Date(now - 3_600_000) },
  ]);
  const order = async (): Promise<string[]> => (await chart()).locales.map(({ locale }) => locale);
  expect(await order()).toEqual(['en', 'pt-BR']);
  await fold();
  expect(await order()).toEqual(['en', 'pt-BR']);
});

it('secondsWithin returns a percentile of the delivery times with an error of at most 9%', async () => {
  const sends = history(1);
  await insertSends(store, sends);
  await fold();
  const { totals } = await chart();
  const seconds = sends
    .filter(
      ({ caller, status }) => caller.accountId === live.accountId && ['delivered', 'read'].includes(status),
    )
    .map(({ deliveryMs }) => deliveryMs / 1000)
    .toSorted((a, b) => a - b);
  for (const [reported, share] of [
    [totals.deliverySecondsMedian!, 0.5],
    [totals.deliverySecondsP95!, 0.95],
  ] as const) {
    // The percentile lies between two of the times, and each time may be returned as any time of its bucket.
    expect(reported).toBeGreaterThan(seconds[Math.floor(share * seconds.length) - 1]! / 1.091);
    expect(reported).toBeLessThan(seconds[Math.ceil(share * seconds.length)]! * 1.091);
  }
  expect(secondsWithin(0.5, [])).toBeNull();
  expect(secondsWithin(1, [...TIME_BOUNDS.map(() => 0), 1])).toBe(TIME_BOUNDS.at(-1));
});

it('aggregateDays stops at a day with a pending send or receipt', async () => {
  await changeSettings(store.database, TEST_ACTOR, { retainSendsDays: 30 });
  const at = (days: number, status: PastSend['status']): PastSend => ({
    ...history(1)[0]!,
    caller: live,
    at: new Date(now - days * DAY_MS),
    status,
  });
  const [, waiting] = await insertSends(store, [at(36, 'sent'), at(35, 'queued'), at(34, 'sent')]);
  const before = await chart();
  const left = async () => (await store.sql('select from sends')).length;
  await fold();
  expect([await left(), await chart()]).toEqual([2, before]);
  await store.sql(
    `update sends set due_at = null, status = 'sent', phase = 'done', channel = 'whatsapp', encrypted_code = null, sent_at = created_at,
       sender_id = (select id from senders), from_number = (select number from senders) where id = $1`,
    [waiting],
  );
  const over = await chart();
  const receipt = { attempt: { sendId: waiting!, number: 1 }, occurredAt: new Date(), failure: null };
  const receipts: Receipt[] = [{ ...receipt, messageId: 'm', status: 'read' }];
  await storeReports(store.database, { receipts, denials: [], changes: [] }, null);
  await fold();
  expect(await left()).toBe(2);
  await store.sql('truncate provider_reports');
  expect(await fold()).toEqual({ numbersReplaced: 0, sendsDeleted: 2 });
  expect(await chart()).toEqual(over);
});

it.each([
  ['before the counts are written', 'insert on daily_statistics'],
  ['before the day is marked', 'update on cursors'],
])('aggregateDays counts nothing if it ends %s', async (_, event) => {
  await insertSends(store, history(2));
  const before = await chart();
  const allow = await refuseWrites(store, event);
  await expect(fold()).rejects.toThrow('refused by a test');
  await allow();
  expect(await store.sql('select from daily_statistics')).toEqual([]);
  await fold();
  expect(await chart()).toEqual(before);
  const [counted, reported] = await countAndReport(today - 8 * DAY_MS);
  expect(reported).toEqual(counted);
});

it('aggregateDays counts each day once after a lost connection and by concurrent callers', async () => {
  await insertSends(store, history(3));
  const ended: unknown[] = [];
  await store.database.transaction(async ({ sql }) => {
    await sql.execute`lock table daily_statistics in exclusive mode`;
    void fold().catch((error: unknown) => ended.push(error));
    await until('a fold that waits', async () => {
      const rows = await store.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
           and wait_event_type = 'Lock' and query ilike '%insert into daily_statistics%'`,
      );
      return rows.length > 0;
    });
  });
  await until('its error', () => ended.length === 1);
  expect(await store.sql('select from daily_statistics')).toEqual([]);
  await Promise.all([1, 2, 3, 4].map(fold));
  await fold();
  const [counted, reported] = await countAndReport(today - 8 * DAY_MS);
  expect(reported).toEqual(counted);
});

it('aggregateDays ends during a day when its worker stops', async () => {
  await insertSends(store, history(3));
  const stopping = new AbortController();
  let ended: Promise<unknown> = Promise.resolve();
  await store.database.transaction(async ({ sql }) => {
    await sql.execute`lock table sends in access exclusive mode`;
    ended = applyRetention(store.database, stopping.signal);
    await until('a fold that waits', async () => {
      const rows = await store.sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%statistics%'`,
      );
      return rows.length > 0;
    });
    stopping.abort();
  });
  await ended;
  expect(await store.sql('select from daily_statistics')).toEqual([]);
  await fold();
  expect(await store.sql('select from daily_statistics')).not.toEqual([]);
});

it('deleteAccount deletes only the statistics of its account', async () => {
  await insertSends(store, history(4));
  await fold();
  const others = await chart(callers[3]);
  expect(others.totals.sends).toBeGreaterThan(0);
  await deleteAccount(store.database, TEST_ACTOR, live.accountId, 'left');
  expect((await chart()).totals.sends).toBe(0);
  expect(await chart(callers[3])).toEqual(others);
});
