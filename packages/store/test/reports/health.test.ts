import type { HoldTarget } from '@onecode/domain';
import {
  placeHold,
  newId,
  recordHeartbeat,
  listHeartbeats,
  deleteOldHeartbeats,
  readAttemptMinutes,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  releaseHold,
  storeReceipts,
} from '@onecode/store';
import { buildCaller, buildSend, TEST_ACTOR, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
let live: TestCaller;
let test: TestCaller;
beforeAll(async () => {
  live = await buildCaller(store.database, 'live', { credits: 1_000, freeQuota: 0 });
  test = await buildCaller(store.database, 'test');
});
beforeEach(() => store.sql(`truncate attempts, ledger_entries, receipts, heartbeats, sends cascade`));

/** A send in some state, by direct SQL. */
async function waiting(columns: string, caller = live): Promise<string> {
  const id = await buildSend(store.database, caller);
  await store.sql(`update sends set ${columns} where id = $1`, [id]);
  return id;
}

describe('what the health page reads of sends', () => {
  it('tells sends that nobody has taken from those under way, and how long the oldest has been due', async () => {
    await waiting("due_at = now() - interval '40 seconds'");
    await waiting("due_at = now() - interval '20 seconds'", test);
    await waiting("due_at = now() + interval '20 seconds'");
    await waiting(
      "status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null, due_at = null, next_enqueue_at = null",
    );

    const { due, forSender, held, underWay } = await readWaitingSends(store.database);
    expect(due).toEqual({ count: 2, oldestSeconds: expect.closeTo(40, 0) });
    expect(forSender).toEqual({ count: 0, oldestSeconds: null });
    expect(held).toEqual({ count: 0, oldestSeconds: null });
    expect(underWay).toBe(1);
  });

  it.each<[string, () => HoldTarget]>([
    ['all live delivery', () => ({ kind: 'live', target: '' })],
    ['a country', () => ({ kind: 'country', target: 'BR' })],
    ['an account', () => ({ kind: 'account', target: live.accountId })],
  ])('tells what a switch holds from what waits for a sender: %s', async (_, target) => {
    await waiting("awaiting_sender = true, created_at = now() - interval '30 seconds', due_at = expires_at");
    expect((await readWaitingSends(store.database)).forSender).toEqual({
      count: 1,
      oldestSeconds: expect.closeTo(30, 0),
    });
    await placeHold(store.database, TEST_ACTOR, { ...target(), reason: 'a drill' });
    const { forSender, held } = await readWaitingSends(store.database);
    await releaseHold(store.database, TEST_ACTOR, target());
    expect([forSender.count, held.count, held.oldestSeconds]).toEqual([0, 1, expect.closeTo(30, 0)]);
  });
});

describe('what the health page reads of the provider', () => {
  /** Calls that began so many seconds ago and took so many milliseconds. */
  async function calls(count: number, outcome: string | null, secondsAgo: number, tookMs = 0): Promise<void> {
    const send = await buildSend(store.database, live);
    for (let n = 0; n < count; n++) {
      const at = Date.now() - secondsAgo * 1_000;
      const id = `${at
        .toString(16)
        .padStart(12, '0')
        .replace(/(.{8})/, '$1-')}${newId().slice(13)}`;
      await store.sql(
        `insert into attempts (id, send_id, outcome, started_at, finished_at)
         values ($1, $2, $3, now() - make_interval(secs => $4),
           case when $3::text is not null then now() - make_interval(secs => $4) + make_interval(secs => $5 / 1000.0) end)`,
        [id, send, outcome, secondsAgo, tookMs],
      );
    }
  }

  it('counts calls by minute and outcome, without gaps and without those of before', async () => {
    await calls(2, 'accepted', 600);
    await calls(1, 'retry', 600);
    await calls(3, null, 0);
    await calls(4, 'accepted', 3_600);

    const minutes = await readAttemptMinutes(store.database, 30);
    expect(minutes).toHaveLength(30);
    expect(
      minutes
        .map(({ minute }) => minute.getTime())
        .every((at, n, all) => n === 0 || at - (all[n - 1] as number) === 60_000),
    ).toBe(true);
    expect(
      minutes.filter(({ outcomes }) => Object.keys(outcomes).length > 0).map(({ outcomes }) => outcomes),
    ).toEqual([{ accepted: 2, retry: 1 }, { none: 3 }]);
  });

  it('sums up the answers of the last minutes, with their median and 95th percentile', async () => {
    for (let n = 1; n <= 21; n++) await calls(1, 'accepted', 60, n * 100);
    await calls(2, 'retry', 60, 1_100);
    await calls(1, 'unknown', 60, 1_100);
    await calls(1, 'config', 60, 1_100);
    await calls(1, 'sender', 60, 1_100);
    await calls(1, null, 0);
    await calls(9, 'retry', 900, 9_000);

    expect(await readProviderAnswers(store.database, 5)).toEqual({
      calls: 27,
      accepted: 21,
      failing: 3,
      config: 1,
      sender: 1,
      secondsMedian: expect.closeTo(1.1, 3),
      secondsP95: expect.closeTo(1.975, 2),
    });
  });

  it('counts receipts that came, and those that were not applied in time', async () => {
    const report = (messageId: string) => ({
      messageId,
      attemptId: null,
      status: 'sent' as const,
      occurredAt: new Date(),
      failure: null,
    });
    await storeReceipts(store.database, ['a', 'b', 'c', 'd'].map(report));
    await store.sql(
      "update receipts set received_at = now() - interval '5 minutes', due_at = null, result = 'applied' where message_id = 'a'",
    );
    await store.sql(
      "update receipts set received_at = now() - interval '1 hour', due_at = now() - interval '50 seconds' where message_id = 'b'",
    );
    await store.sql(
      "update receipts set due_at = now() + interval '1 minute' where message_id in ('c', 'd')",
    );

    expect(await readReceiptStatistics(store.database)).toEqual({
      lastMinute: 2,
      lastTenMinutes: 3,
      due: 1,
      oldestDueSeconds: expect.closeTo(50, 0),
    });
  });
});

describe('what workers record of their loops', () => {
  it('is the last round of each, newest first, and is forgotten within the hour', async () => {
    const [one, other, gone] = [newId(), newId(), newId()];
    await recordHeartbeat(store.database, 'sweep', one);
    await recordHeartbeat(store.database, 'sweep', gone);
    await store.sql("update heartbeats set ran_at = now() - interval '40 seconds' where worker_id = $1", [
      one,
    ]);
    await store.sql("update heartbeats set ran_at = now() - interval '2 hours' where worker_id = $1", [gone]);
    await recordHeartbeat(store.database, 'wake', other);
    await recordHeartbeat(store.database, 'wake', other);

    const expected = [
      { loop: 'wake', workerId: other, secondsAgo: expect.closeTo(0, 0) },
      { loop: 'sweep', workerId: one, secondsAgo: expect.closeTo(40, 0) },
    ];
    expect(await listHeartbeats(store.database)).toEqual(expected);
    await deleteOldHeartbeats(store.database);
    expect(await store.sql('select worker_id from heartbeats order by ran_at')).toEqual([
      { worker_id: one },
      { worker_id: other },
    ]);
  });
});
