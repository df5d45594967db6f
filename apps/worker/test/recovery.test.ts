import { claim } from '@onecode/domain';
import { changeSend, listSenderDetails, newId, type SenderDetails } from '@onecode/store';
import {
  buildSend,
  buildSender,
  deleteKeys,
  keysOf,
  startTcpProxy,
  testRedisUrl,
  until,
  type TapAnswer,
  type TcpProxy,
  type TestCaller,
} from '@onecode/testing';
import { cleanUp } from '../src/sweeper.js';
import { startWorker, useWorker, type TestWorker, type TestWorkerOptions } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

/** An environment without a worker: each test starts its own by `work`. */
let environment: WorkerEnvironment;
let caller: TestCaller;
const workers: TestWorker[] = [];
const work = async (options?: TestWorkerOptions): Promise<TestWorker> => {
  const worker = await startWorker(environment, options);
  workers.push(worker);
  return worker;
};
beforeAll(async () => {
  environment = await WorkerEnvironment.open();
});
beforeEach(async () => {
  await environment.reset();
  await environment.db.sql('truncate send_slots');
  await buildSender(environment.db.database);
  caller = await environment.newCaller();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});
afterAll(() => environment.close());

describe('after Redis was flushed', () => {
  const flush = (): Promise<void> => deleteKeys(environment.redis, environment.prefix);

  it('sends that waited in the queue are enqueued again', async () => {
    const live = await environment.send(caller);
    const test = await environment.send(await environment.newCaller('test'));
    expect(await keysOf(environment.redis, environment.prefix)).not.toEqual([]);
    await flush();
    await work();
    await environment.until(live, 'delivered');
    await environment.until(test, 'read');
    expect(await environment.calls(live)).toHaveLength(1);
  });

  it('sends that waited for a retry are enqueued again', async () => {
    await work();
    environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 1 }, times: 1 });
    const id = await environment.send(caller);
    await environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await flush();
    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('an attempt under way ends as usual', async () => {
    await work();
    environment.simulator.rules.add({ fault: { latencyMs: 300 } });
    const id = await environment.send(caller);
    await until('a call', async () => (await environment.calls(id)).length === 1);
    await flush();
    await environment.until(id, 'delivered');
    expect(await environment.calls(id)).toHaveLength(1);
    const next = await environment.send(await environment.newCaller(), { recipient: '+5511987650002' });
    await environment.until(next, 'delivered');
  });

  it('enqueued receipts are applied', async () => {
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const first = await work();
    const id = await environment.send(caller);
    await environment.until(id, 'sent');
    await first.stop();
    workers.splice(0);
    const [message] = environment.simulator.messages();
    await environment.simulator.postReceipt({ messageId: message!.id, status: 'delivered' });
    await flush();
    await work();
    await environment.until(id, 'delivered');
  });
});

describe('a sweep', () => {
  it('enqueues a send once, however many sweeps run at once', async () => {
    const worker = await work({ sweepPauseMs: null });
    const id = await buildSend(environment.db.database, caller);
    await environment.age(id, 60);
    await Promise.all([worker.sweep(), worker.sweep(), worker.sweep()]);
    expect(await worker.count('onecode_sweeper_enqueues_total', { queue: 'deliver' })).toBe(1);
  });
});

describe('cleaning up', () => {
  it('deletes receipts that were settled more than eight days ago, and no others', async () => {
    const { database } = environment.db;
    await environment.db.sql('truncate receipts');
    await environment.db.sql(
      `insert into receipts (message_id, status, occurred_at, received_at, due_at, result) values
         ('old', 'sent', now(), now() - interval '9 days', null, 'applied'),
         ('old but open', 'sent', now(), now() - interval '9 days', now(), null),
         ('young', 'sent', now(), now() - interval '7 days', null, 'ignored')`,
    );
    await cleanUp({ database });
    const left = await environment.db.sql('select message_id from receipts order by id');
    expect(left).toEqual([{ message_id: 'old but open' }, { message_id: 'young' }]);
  });
});

describe('a Redis that freezes and recovers', () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy(testRedisUrl());
  });
  afterAll(() => proxy.close());

  it('only delays sends, and counts none as enqueued meanwhile', async () => {
    const worker = await work({ env: { REDIS_URL: proxy.url } });
    caller = await environment.newCaller('live', { credits: 5 });
    await environment.until(await environment.send(caller), 'delivered');
    proxy.freeze();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await environment.send(caller, { recipient: `+551198765003${n}` }));
    for (const id of ids) await environment.age(id, 60);
    const enqueued = () => worker.count('onecode_sweeper_enqueues_total', { queue: 'deliver' });
    const before = await enqueued();
    await worker.sweep();
    // What Redis did not take was not enqueued.
    expect(await enqueued()).toBe(before);
    // The data that the proxy held back is lost.
    proxy.cut();
    await proxy.open();
    for (const id of ids) await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(4);
  });
});

describe('without Redis', () => {
  it('expired sends still fail, and the others stay due until it returns', async () => {
    const proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await work({
      env: { REDIS_URL: proxy.url },
      sweepPauseMs: null,
    });
    caller = await environment.newCaller('live', { credits: 1 });
    const expired = await buildSend(environment.db.database, caller);
    const waiting = await buildSend(environment.db.database, caller, { recipient: '+5511987650002' });
    await environment.age(expired, 605);
    await environment.age(waiting, 5);
    const before = await environment.row(waiting);

    await worker.sweep();
    expect(await environment.row(expired)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
    expect(await environment.units(caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    expect(await environment.row(waiting)).toEqual(before);

    await proxy.open();
    await until('Redis', () => worker.context.deliveryQueue.isReady());
    await worker.sweep();
    await environment.until(waiting, 'delivered');
    await worker.stop();
    workers.splice(0);
    await proxy.close();
  });
});

describe('the lease of an attempt', () => {
  const t = useWorker();

  /** A send whose worker died after the claim. */
  const claimedByDeadWorker = async (): Promise<string> => {
    const id = await buildSend(t.database, t.caller, { code: '042913' });
    const [sender] = await listSenderDetails(t.database);
    const { policy } = t.context;
    const claimed = await changeSend(t.database, { id }, (send, now) =>
      claim(send, now, {
        attemptId: newId(),
        leaseMs: 60_000,
        policy,
        slot: { sender: sender as SenderDetails, waitMs: 0 },
      }),
    );
    expect(claimed).toEqual({ kind: 'claimed', attempt: 1 });
    return id;
  };

  it('keeps other workers from the send while it lasts', async () => {
    const id = await claimedByDeadWorker();
    const before = await t.row(id);
    await t.enqueue('live', id, 0);
    await until(
      'a job that found its send not due',
      async () => (await t.count('onecode_deliveries_total', { end: 'not_due' })) > 0,
    );
    await t.sweep();
    expect(await t.row(id)).toEqual(before);
    expect(t.tap.requests).toEqual([]);
  });

  it('ends with a take-over: the same code again, and one charge', async () => {
    const id = await claimedByDeadWorker();
    await t.makeDue(id);
    const row = await t.until(id, ({ status, attempt_id }) => status === 'delivered' && !attempt_id);
    expect(row).toMatchObject({ attempts: 2, receipt_until: expect.any(Date) });
    expect(await t.attempts(id)).toMatchObject([{ outcome: 'unknown' }, { outcome: 'accepted' }]);
    expect(t.simulator.messages()).toMatchObject([{ code: '042913' }]);
    expect(await t.units(t.caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });
});

describe('a worker that continues after its lease has ended', () => {
  it.each<[string, TapAnswer | null]>([
    ['an acceptance', null],
    ['a final refusal', { status: 400, body: '{"error":{"code":131026}}' }],
  ])('changes nothing, even with %s', async (_, lateAnswer) => {
    let answerNow = (): void => {};
    const held = new Promise<void>((resolve) => {
      answerNow = resolve;
    });
    const environment: WorkerEnvironment = await WorkerEnvironment.open(async () => {
      if (environment.tap.requests.length > 1) return null;
      await held;
      return lateAnswer;
    });
    const slow = await startWorker(environment, {
      env: { DELIVERY_CONCURRENCY: '1', PROVIDER_TIMEOUT_MS: '60000' },
    });
    await buildSender(environment.db.database);
    const caller = await environment.newCaller();
    const id = await environment.send(caller);
    await until('the slow call', async () => (await environment.calls(id)).length === 1);
    await environment.makeDue(id);

    const other = await startWorker(environment);
    const after = await environment.until(
      id,
      ({ status, attempt_id }) => status === 'delivered' && attempt_id === null,
    );
    expect(after).toMatchObject({ attempts: 2 });
    answerNow();
    await until(
      'the slow answer',
      async () => (await slow.count('onecode_deliveries_total', { end: 'stale' })) === 1,
    );
    const { version: _version, ...same } = after;
    expect(await environment.row(id)).toMatchObject(same);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await Promise.all([slow.stop(), other.stop()]);
    await environment.close();
  });
});

describe('a send that waits for the time of its send slot', () => {
  /** Moves the sender's next send slot almost as far away as a worker waits for one. */
  const slotsAreTaken = (): Promise<object[]> =>
    environment.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '970 milliseconds' from senders
       on conflict (sender_id) do update set free_at = excluded.free_at`,
    );

  /** A send that waited for such a slot and was woken for it. */
  async function wokenSend(): Promise<string> {
    const id = await buildSend(environment.db.database, caller);
    await environment.db.sql(`update sends set promised_until = now() + interval '1 minute'`);
    await environment.enqueue('live', id, 0);
    return id;
  }

  it('is claimed for longer than the wait, and goes out at the time of the slot', async () => {
    await work({ leaseMs: 10_000 });
    await slotsAreTaken();
    const id = await wokenSend();
    const claimed = await environment.until(id, (row) => row.attempt_id !== null);
    expect(environment.tap.requests).toEqual([]);
    await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(1);
    const [attempt, ...others] = await environment.attempts(id);
    expect(others).toEqual([]);
    expect(claimed.due_at!.getTime()).toBeGreaterThan(attempt!.finished_at!.getTime());
  });

  it('is released when its worker stops, uses up no attempt, and another worker sends it', async () => {
    const first = await work();
    await slotsAreTaken();
    const id = await wokenSend();
    await environment.until(id, (row) => row.attempt_id !== null);
    await first.stop();
    workers.splice(0);
    expect(await environment.row(id)).toMatchObject({
      status: 'sending',
      attempts: 0,
      attempt_id: null,
      receipt_until: null,
    });
    expect(environment.tap.requests).toEqual([]);

    await work();
    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await environment.attempts(id)).toMatchObject([
      { outcome: 'retry', error_code: null, message_id: null },
      { outcome: 'accepted' },
    ]);
    expect(environment.tap.requests).toHaveLength(1);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
  });

  it('is released without a call when its worker is delayed long past that time', async () => {
    const id = await buildSend(environment.db.database, caller);
    // The worker takes the slot, and cannot write the claim while this connection holds the row.
    const holder = await environment.db.connect();
    await holder.query('begin');
    await holder.query('select from sends where id = $1 for no key update', [id]);
    await work({ sweepPauseMs: null });
    await environment.enqueue('live', id, 0);
    await until('a claim that waits for longer than a call may be late', async () => {
      // Within a transaction, PostgreSQL repeats its first snapshot of the activity unless it is cleared.
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query_start < clock_timestamp() - interval '2.6 seconds'`,
      );
      return rows.length > 0;
    });
    await holder.query('commit');
    await holder.end();

    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    const [late, inTime] = await environment.attempts(id);
    expect([late?.outcome, inTime?.outcome]).toEqual(['retry', 'accepted']);
    expect(environment.tap.requests).toHaveLength(1);
    expect(environment.tap.requests[0]!.body).toContain(inTime!.id);
  });

  it('waits in its row rather than in the worker when no slot is that near', async () => {
    await work({ sweepPauseMs: null });
    await environment.db.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '1 hour' from senders`,
    );
    const id = await environment.send(caller);
    expect(await environment.until(id, (row) => row.awaiting_sender)).toMatchObject({
      status: 'queued',
      attempts: 0,
    });
    expect(environment.tap.requests).toEqual([]);
  });
});
