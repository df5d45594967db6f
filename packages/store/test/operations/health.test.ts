import type { HoldTarget, TrafficCount } from '@onecode/domain';
import { changeAccount } from '@onecode/store/accounts';
import { placeHold, releaseHold } from '@onecode/store/holds';
import {
  addTraffic,
  createPresence,
  createTrafficCounter,
  deleteOldProcesses,
  listHeartbeats,
  listProcesses,
  mergeOldTraffic,
  readAttemptMinutes,
  readProviderAnswers,
  readReceiptStatistics,
  readTraffic,
  readWaitingSends,
  type LastRuns,
} from '@onecode/store/operations';
import { countHeldMessages, readSenderActivity } from '@onecode/store/reports';
import { readMigrations } from '@onecode/store/migrations';
import {
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

describe('health', () => {
  let live: TestCaller;
  let test: TestCaller;
  beforeAll(async () => {
    live = await buildCaller(store.database, 'live', { credits: 1_000, freeQuota: 0 });
    test = await buildCaller(store.database, 'test');
  });
  beforeEach(() =>
    store.sql(`truncate attempts, ledger_entries, provider_reports, processes, sends cascade`),
  );

  /** Inserts a send in a state, by direct SQL. */
  async function waiting(columns: string, caller = live): Promise<string> {
    const id = await buildSend(store.database, caller);
    await store.sql(`update sends set ${columns} where id = $1`, [id]);
    return id;
  }

  describe('the sends on the health page', () => {
    it('are counted as due or claimed, with the oldest due time', async () => {
      await waiting("due_at = now() - interval '40 seconds'");
      await waiting("due_at = now() - interval '20 seconds'", test);
      await waiting("due_at = now() + interval '20 seconds'");
      await waiting(
        "status = 'failed', phase = 'done', failed_at = now(), failure_reason = 'attempts_exhausted', encrypted_code = null, due_at = null",
      );

      const { due, forSender, held, underWay } = (await readWaitingSends(store.database)).waiting;
      const none = { count: 0, oldestSeconds: null, othersSeconds: null, expirySeconds: null, accounts: 0 };
      expect(due).toMatchObject({
        count: 2,
        oldestSeconds: expect.closeTo(40, 0),
        othersSeconds: expect.closeTo(20, 0),
        accounts: 2,
      });
      expect([forSender, held]).toEqual([none, none]);
      expect(underWay).toMatchObject({ count: 1, accounts: 1 });
    });

    it.each([
      ['was verified', "verification = 'verified', verified_at = now()"],
      [
        'is about to expire',
        "created_at = now() - interval '571 seconds', expires_at = now() + interval '29 seconds'",
      ],
    ])('do not wait for a sender if their code %s', async (_, columns) => {
      await waiting(`phase = 'waiting', due_at = now() + interval '20 seconds', ${columns}`);
      const { forSender, underWay } = (await readWaitingSends(store.database)).waiting;
      expect([forSender.count, underWay.count]).toEqual([0, 1]);
    });

    it.each<[string, () => HoldTarget]>([
      ['all live delivery', () => ({ kind: 'live', target: '' })],
      ['a country', () => ({ kind: 'country', target: 'BR' })],
      ['an account', () => ({ kind: 'account', target: live.accountId })],
    ])('are counted as held or waiting for a sender: %s', async (_, target) => {
      await waiting(
        "phase = 'waiting', created_at = now() - interval '30 seconds', due_at = expires_at, expires_at = now() + interval '90 seconds'",
      );
      expect((await readWaitingSends(store.database)).waiting.forSender).toEqual({
        count: 1,
        oldestSeconds: expect.closeTo(30, -1),
        othersSeconds: null,
        expirySeconds: expect.closeTo(90, -1),
        accounts: 1,
      });
      await changeAccount(store.database, TEST_ACTOR, live.accountId, { senders: 'own' });
      const { waiting: shared, own } = await readWaitingSends(store.database);
      await changeAccount(store.database, TEST_ACTOR, live.accountId, { senders: 'shared' });
      expect(shared.forSender.count).toBe(0);
      expect(own).toEqual([
        {
          account: { id: live.accountId, name: 'Test account' },
          waiting: expect.objectContaining({ count: 1, oldestSeconds: expect.closeTo(30, -1) }),
        },
      ]);
      await placeHold(store.database, TEST_ACTOR, { ...target(), reason: 'a drill' });
      const { forSender, held } = (await readWaitingSends(store.database)).waiting;
      await releaseHold(store.database, TEST_ACTOR, target());
      expect([forSender.count, held.count, held.oldestSeconds]).toEqual([0, 1, expect.closeTo(30, -1)]);
    });
  });

  describe('the provider on the health page', () => {
    let attempts = 0;
    // One time for the whole test, because its calls must not span two minutes.
    let now: Date;
    beforeEach(() => {
      now = new Date();
    });
    /** Calls that ended this many seconds ago and took this many milliseconds. */
    async function calls(count: number, outcome: string, secondsAgo: number, tookMs = 0): Promise<void> {
      const send = await buildSend(store.database, live);
      for (let n = 0; n < count; n++)
        await store.sql(
          `insert into attempts (send_id, number, outcome, started_at, finished_at)
           values ($1, $2, $3, $6::timestamptz - make_interval(secs => $4 + $5 / 1000.0), $6::timestamptz - make_interval(secs => $4))`,
          [send, (attempts += 1), outcome, secondsAgo, tookMs, now],
        );
    }

    it('has calls by minute and outcome, with empty minutes and without older calls', async () => {
      await calls(2, 'accepted', 600);
      await calls(1, 'retry', 600);
      await calls(3, 'unknown', 0);
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
      ).toEqual([{ accepted: 2, retry: 1 }, { unknown: 3 }]);
    });

    it('has the calls of the last minutes by outcome, with the median and 95th percentile of their duration', async () => {
      for (let n = 1; n <= 21; n++) await calls(1, 'accepted', 60, n * 100);
      await calls(2, 'retry', 60, 1_100);
      await calls(1, 'unknown', 60, 1_100);
      await calls(1, 'config', 60, 1_100);
      await calls(1, 'sender', 60, 1_100);
      await calls(9, 'retry', 900, 9_000);

      expect(await readProviderAnswers(store.database, 5)).toEqual({
        calls: 26,
        accepted: 21,
        failing: 3,
        config: 1,
        sender: 1,
        secondsMedian: expect.closeTo(1.1, 3),
        secondsP95: expect.closeTo(1.975, 2),
        idleSeconds: expect.any(Number),
      });
    });

    it('has applied receipts, and due reports of the operator’s app only', async () => {
      await store.sql(
        `insert into traffic_counts (began_at, event, country, sender_id, reason, count) values
           (now() - interval '30 seconds', 'receipt_sent', 'BR', '', '', 2), (now() - interval '30 seconds', 'accepted', 'BR', '', '', 9),
           (now() - interval '5 minutes', 'receipt_read', 'BR', '', '', 1), (now() - interval '1 hour', 'receipt_read', 'BR', '', '', 5)`,
      );
      await store.sql(
        `insert into provider_reports (key, reporter, kind, report, due_at) values
           ('late', null, 'receipt', '{}', now() - interval '50 seconds'),
           ('later', null, 'receipt', '{}', now() + interval '1 minute'),
           ('of an own app', gen_random_uuid(), 'receipt', '{}', now() - interval '1 hour')`,
      );
      expect(await readReceiptStatistics(store.database)).toEqual({
        lastMinute: 2,
        lastTenMinutes: 3,
        due: 1,
        oldestDueSeconds: expect.closeTo(50, 0),
      });
    });
  });

  describe('heartbeats', () => {
    it('show the last run of each loop within an hour, newest first, as the worker’s last report contains it', async () => {
      const lastRuns: LastRuns = {};
      const report = async (runs: LastRuns): Promise<string> => {
        const presence = await createPresence(store.database, {
          kind: 'worker',
          release: '1.1.0',
          lastRuns: runs,
        });
        await presence.report();
        return presence.id;
      };
      const ago = (seconds: number): number => performance.now() - seconds * 1_000;
      const one = await createPresence(store.database, { kind: 'worker', release: '1.1.0', lastRuns });
      await one.report();
      const other = await report({ deliver: ago(5) });
      await report({ sweep: ago(7_200) });
      expect(await listHeartbeats(store.database)).toEqual([
        { loop: 'deliver', workerId: other, secondsAgo: expect.closeTo(5, 0) },
      ]);

      lastRuns.sweep = ago(40);
      lastRuns.clean_up = ago(2);
      await one.report();
      const expected = [
        { loop: 'clean_up', workerId: one.id, secondsAgo: expect.closeTo(2, 0) },
        { loop: 'deliver', workerId: other, secondsAgo: expect.closeTo(5, 0) },
        { loop: 'sweep', workerId: one.id, secondsAgo: expect.closeTo(40, 0) },
      ];
      expect(await listHeartbeats(store.database)).toEqual(expected);
    });
  });
});

describe('traffic', () => {
  beforeEach(() => store.sql('delete from traffic_counts'));

  const count = (times: number, more: Partial<TrafficCount> = {}): TrafficCount => ({
    event: 'failed',
    country: 'BR',
    senderId: 'a',
    accountId: 'x',
    reason: 'attempts_exhausted',
    count: times,
    ...more,
  });

  it('adds up for any number and order of concurrent writers', async () => {
    const counts = [count(1), count(2, { senderId: 'b' }), count(3, { country: 'MX' })];
    await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        addTraffic(store.database, nth % 2 === 0 ? counts : counts.toReversed()),
      ),
    );
    const { totals, fiveMinutes, twoMinutes } = await readTraffic(store.database);
    expect(totals).toEqual([
      { event: 'failed', country: 'BR', reason: 'attempts_exhausted', count: 60 },
      { event: 'failed', country: 'MX', reason: 'attempts_exhausted', count: 60 },
    ]);
    expect(fiveMinutes).toHaveLength(3);
    expect(fiveMinutes).toEqual(twoMinutes);
  });

  it('deletes old minutes, but keeps the totals', async () => {
    await addTraffic(store.database, [count(4)]);
    await store.sql(`update traffic_counts set began_at = began_at - interval '3 minutes'`);
    await addTraffic(store.database, [count(5)]);
    const [recent] = (await readTraffic(store.database)).twoMinutes;
    expect(recent).toEqual(count(5));
    expect((await readTraffic(store.database)).fiveMinutes.reduce((sum, one) => sum + one.count, 0)).toBe(9);

    for (let round = 0; round < 2; round++) {
      await store.sql(`update traffic_counts set began_at = began_at - interval '20 minutes'
        where began_at > '-infinity'`);
      await Promise.all(Array.from({ length: 5 }, () => mergeOldTraffic(store.database)));
      await addTraffic(store.database, [count(1, { event: 'delivered', reason: '' })]);
    }
    const { totals, fiveMinutes } = await readTraffic(store.database);
    expect(totals).toEqual([
      { event: 'delivered', country: 'BR', reason: '', count: 2 },
      { event: 'failed', country: 'BR', reason: 'attempts_exhausted', count: 9 },
    ]);
    expect(fiveMinutes).toEqual([count(1, { event: 'delivered', reason: '' })]);
    const rows = await store.sql(`select from traffic_counts where began_at = '-infinity'`);
    expect(rows).toHaveLength(2);
  });

  it('excludes messages that were just accepted, because their receipts may still arrive', async () => {
    const accepted = count(30, { event: 'accepted', reason: '' });
    await addTraffic(store.database, [accepted]);
    expect(await readTraffic(store.database)).toMatchObject({ fiveMinutes: [], twoMinutes: [] });
    await store.sql(`update traffic_counts set began_at = began_at - interval '20 seconds'`);
    expect(await readTraffic(store.database)).toMatchObject({
      fiveMinutes: [accepted],
      twoMinutes: [accepted],
    });
  });

  it('is written once by a counter, and lost if the write fails', async () => {
    const counter = createTrafficCounter();
    const { count: _, ...key } = count(1);
    counter.count(key);
    await store.sql('alter table traffic_counts rename to away');
    await expect(counter.flush(store.database)).rejects.toMatchObject({ code: 'SQLSTATE_42P01' });
    await store.sql('alter table away rename to traffic_counts');
    counter.count(key);
    counter.count(key);
    await counter.flush(store.database);
    await counter.flush(store.database);
    expect((await readTraffic(store.database)).fiveMinutes).toEqual([count(2)]);
  });
});

describe('statistics for staff', () => {
  let caller: TestCaller;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { name: 'Loja Azul', credits: 1_000 });
  });

  it('show a sender’s calls of an hour by outcome, with the latest errors first', async () => {
    const [{ id: one }] = [await buildSender(store.database), await buildSender(store.database)];
    const send = await buildSend(store.database, caller);
    // Inserts one call per minute for two hours, and one call now.
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, error_code, started_at, finished_at)
       select $1::uuid, n, $2::uuid, case when n % 10 = 0 then 'retry' else 'accepted' end,
         case when n % 10 = 0 then 130429 end, now() - n * interval '1 minute', now() - n * interval '1 minute'
       from generate_series(1, 120) n
       union all select $1, 1000, $2, 'config', 190, now(), now()`,
      [send, one],
    );
    expect(await readSenderActivity(store.database)).toMatchObject([
      {
        senderId: one,
        outcomes: { accepted: 54, retry: 5, config: 1 },
        errors: [
          { outcome: 'config', errorCode: 190, times: 1 },
          { outcome: 'retry', errorCode: 130429, times: 5 },
        ],
      },
    ]);
  });

  it('show how many messages of the last day and hour Meta held, by sender', async () => {
    const { id } = await buildSender(store.database);
    const { id: other } = await buildSender(store.database);
    const send = await buildSend(store.database, caller);
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_status, started_at, finished_at)
       select $1::uuid, n, sender_id::uuid, 'accepted', status, at, at
       from (values (1, $2, 'paused', 5), (2, $2, 'held_for_quality_assessment', 25), (3, $2, 'paused', 90), (4, $2, 'paused', 1430),
         (5, $2, 'paused', 1450), (6, $2, null, 50), (7, $3, 'paused', 300), (8, null, 'paused', 1)) v (n, sender_id, status, minutes),
         lateral (select now() - make_interval(mins => minutes)) t (at)`,
      [send, id, other],
    );
    const held = await countHeldMessages(store.database);
    expect(held).toHaveLength(2);
    expect(held).toEqual(
      expect.arrayContaining([
        { senderId: id, lastDay: 4, lastHour: 2, lastHourSeconds: 1_200 },
        { senderId: other, lastDay: 1, lastHour: 0, lastHourSeconds: 0 },
      ]),
    );
  });
});

describe('the presence of a process', () => {
  beforeEach(async () => {
    await store.sql('truncate processes');
  });

  const presence = (release = '1.1.0') => createPresence(store.database, { kind: 'api', release });
  const seen = async (): Promise<unknown[]> =>
    (await listProcesses(store.database)).map(({ id, state }) => ({ id, state }));

  it('reports the release and the newest migration of the process repeatedly', async () => {
    const one = await presence();
    expect(await one.report()).toBeNull();
    const [first] = await listProcesses(store.database);
    expect(first).toMatchObject({
      id: one.id,
      kind: 'api',
      release: '1.1.0',
      lastMigration: (await readMigrations()).at(-1)!.name,
      state: 'running',
    });
    await store.sql(`update processes set seen_at = now() - interval '2 minutes'`);
    expect(await seen()).toEqual([{ id: one.id, state: 'silent' }]);
    expect(await one.report()).toBeNull();
    expect(await seen()).toEqual([{ id: one.id, state: 'running' }]);
  });

  it('reports how far the clock is ahead of the database’s clock, without the round trip', async () => {
    const one = await presence();
    // A report stores the difference that the one before it measured.
    const measureClock = async (): Promise<number | null> => {
      await one.report();
      await one.report();
      return (await listProcesses(store.database))[0]!.clockAheadMs;
    };
    expect(await measureClock()).toBe(0);
    const { now } = Date;
    let ahead: number | null;
    let behind: number | null;
    try {
      Date.now = () => now() + 300_000;
      ahead = await measureClock();
      Date.now = () => now() - 300_000;
      behind = await measureClock();
    } finally {
      Date.now = now;
    }
    // The duration of the round trip is subtracted.
    expect(ahead).toBeGreaterThan(290_000);
    expect(ahead).toBeLessThanOrEqual(300_000);
    expect(behind).toBeLessThan(-290_000);
    expect(behind).toBeGreaterThanOrEqual(-300_000);
    expect(await measureClock()).toBe(0);
  });

  it('reports the stop of the process, and restores a deleted row', async () => {
    const one = await presence();
    await one.report();
    await store.sql('truncate processes');
    await one.report();
    expect(await seen()).toEqual([{ id: one.id, state: 'running' }]);
    await one.end();
    expect(await seen()).toEqual([{ id: one.id, state: 'stopped' }]);
  });

  it('is deleted after an hour, except the latest row of each release', async () => {
    const [old, late, last] = [await presence(), await presence(), await presence('1.0.0')];
    await old.report();
    await last.report();
    await store.sql(`update processes set seen_at = now() - interval '61 minutes'`);
    await late.report();
    await deleteOldProcesses(store.database);
    expect(await store.sql('select id from processes order by release')).toEqual([
      { id: last.id },
      { id: late.id },
    ]);
  });

  it('is not reported for a release that cannot work with the schema', async () => {
    await store.sql(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values ('of a test', '', '99990101000000_contract_since_1_2_0_drop', now())`,
    );
    await expect(presence('1.1.9')).rejects.toThrow(
      /^the schema is too new for release 1\.1\.9: .*_1_2_0_drop/,
    );
    expect(await (await presence('1.2.0')).report()).toBeNull();
    expect(await store.sql('select release from processes')).toEqual([{ release: '1.2.0' }]);
    await store.sql(`delete from _prisma_migrations where id = 'of a test'`);
    const newest = (await readMigrations()).at(-1)!.name;
    await store.sql('delete from _prisma_migrations where migration_name = $1', [newest]);
    await expect(presence()).rejects.toThrow(/^the schema is too old for release 1\.1\.0: .* is missing/);
    await store.sql('alter table _prisma_migrations rename to journal');
    await expect(presence()).rejects.toThrow(/^the schema is too old/);
  });
});
