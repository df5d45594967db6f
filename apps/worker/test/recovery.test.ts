import { setTimeout as pause } from 'node:timers/promises';
import { claim } from '@onecode/testing/claim-model';
import { listSenders, type Sender } from '@onecode/store/senders';
import { changeSend } from '@onecode/store/sends';
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
import type { WorkerContext } from '../src/context.js';
import { startWorker, useWorker, type TestWorker, type TestWorkerOptions } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

/** An environment without a worker. Each test starts its own with `work`. */
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
  await environment.db.sql('truncate sender_permits');
  await buildSender(environment.db.database);
  caller = await environment.newCaller();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});
afterAll(() => environment.close());

describe('a worker after Redis was flushed', () => {
  const flush = (): Promise<void> => deleteKeys(environment.redis, environment.prefix);

  it('delivers sends that waited in the queue', async () => {
    const live = await environment.send(caller);
    const test = await environment.send(await environment.newCaller('test'));
    expect(await keysOf(environment.redis, environment.prefix)).not.toEqual([]);
    await flush();
    await work();
    await environment.until(live, 'delivered');
    await environment.until(test, 'read');
    expect(environment.calls(live)).toHaveLength(1);
  });

  it('sends again the sends that waited for a retry', async () => {
    await work();
    environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 1 }, times: 1 });
    const id = await environment.send(caller);
    await environment.until(id, ({ attempts, claimed_until }) => attempts === 1 && claimed_until === null);
    await flush();
    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('ends an attempt in progress as usual', async () => {
    await work();
    environment.simulator.rules.add({ fault: { latencyMs: 300 } });
    const id = await environment.send(caller);
    await until('a call', () => environment.calls(id).length === 1);
    await flush();
    await environment.until(id, 'delivered');
    expect(environment.calls(id)).toHaveLength(1);
    const next = await environment.send(await environment.newCaller(), { recipient: '+5511987650002' });
    await environment.until(next, 'delivered');
  });

  it('applies enqueued receipts', async () => {
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

describe('a send without a job', () => {
  it('is sent once, although several workers find it at the same time', async () => {
    const worker = await work({ sweepPauseMs: null });
    const id = await buildSend(environment.db.database, caller);
    await environment.age(id, 60);
    await Promise.all([worker.sweep(), worker.sweep(), worker.sweep()]);
    await environment.until(id, 'delivered');
    expect(environment.calls(id)).toHaveLength(1);
  });
});

describe('a Redis that freezes and recovers', () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy(testRedisUrl());
  });
  afterAll(() => proxy.close());

  it('does not delay a send for long', async () => {
    await work({ env: { REDIS_URL: proxy.url } });
    caller = await environment.newCaller('live', { credits: 5 });
    await environment.until(await environment.send(caller), 'delivered');
    proxy.freeze();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await environment.send(caller, { recipient: `+551198765003${n}` }));
    for (const id of ids) await environment.until(id, 'delivered');
    ids.push(await environment.send(caller, { recipient: '+5511987650034' }));
    // Drops the data that the proxy has held back.
    proxy.cut();
    await proxy.open();
    for (const id of ids) await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(5);
  });
});

describe('a worker without Redis', () => {
  it('fails expired sends, and sends all other sends', async () => {
    const proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await work({
      env: { REDIS_URL: proxy.url },
      sweepPauseMs: null,
    });
    caller = await environment.newCaller('live', { credits: 1 });
    const expired = await buildSend(environment.db.database, caller);
    const waiting = await buildSend(environment.db.database, caller, { recipient: '+5511987650002' });
    await environment.age(expired, 605);
    // A new send is left to its job for two seconds.
    await environment.age(waiting, 3);

    await worker.sweep();
    expect(await environment.row(expired)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_before_delivery',
      encrypted_code: null,
    });
    expect(await environment.units(caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await environment.until(waiting, 'sent');
    await until('its receipt', async () => {
      await worker.sweep();
      return (await environment.row(waiting)).status === 'delivered';
    });
    // A stop waits for Redis; `main.ts` limits the wait.
    await proxy.open();
    await worker.stop();
    workers.splice(0);
    await proxy.close();
  });
});

describe('the lease of an attempt', () => {
  const t = useWorker();

  /** Creates a send that a worker claimed before it died. */
  const claimedByDeadWorker = async (): Promise<string> => {
    const id = await buildSend(t.database, t.caller, { code: '042913' });
    const [sender] = await listSenders(t.database);
    const { policy } = t.context;
    const claimed = await changeSend(t.database, { id }, (send, now) =>
      claim(send, now, {
        leaseMs: 60_000,
        policy,
        permit: { sender: sender as Sender, waitMs: 0 },
      }),
    );
    expect(claimed).toBe('claimed');
    return id;
  };

  it('prevents other workers from claiming the send', async () => {
    const id = await claimedByDeadWorker();
    const before = await t.row(id);
    await t.enqueue('live', id);
    await until('a job that found its send not due', async () =>
      (await t.jobOutcomes(id)).includes('waiting'),
    );
    await t.sweep();
    expect(await t.row(id)).toEqual(before);
    expect(t.tap.requests).toEqual([]);
  });

  it('ends, and another worker sends the same code again without another charge', async () => {
    const id = await claimedByDeadWorker();
    await t.makeDue(id);
    const row = await t.until(id, 'delivered');
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
    await until('the slow call', () => environment.calls(id).length === 1);
    await environment.makeDue(id);

    const other = await startWorker(environment);
    const after = await environment.until(
      id,
      // The price arrives with a receipt, possibly the last one.
      ({ status, pricing }) => status === 'delivered' && pricing !== null,
    );
    expect(after).toMatchObject({ attempts: 2 });
    answerNow();
    await until('the slow answer', async () => (await environment.jobOutcomes(id)).includes('stale'));
    const { version: _version, ...same } = after;
    expect(await environment.row(id)).toMatchObject(same);
    expect(await environment.units(caller.accountId)).toMatchObject({ free_quota: 0, returned: [] });
    await Promise.all([slow.stop(), other.stop()]);
    await environment.close();
  });
});

describe('a send that waits for the time of its permit', () => {
  /** Delays the sender's next permit almost by the maximum time that a worker waits for one. */
  const delayNextPermit = (): Promise<object[]> =>
    environment.db.sql(
      `insert into sender_permits (sender_id, free_at) select id, clock_timestamp() + interval '450 milliseconds' from senders
       on conflict (sender_id) do update set free_at = excluded.free_at`,
    );

  /** Creates a send of the account with the next turn. */
  async function waitingSend(): Promise<string> {
    // No worker claims the send before it waits.
    const claims = await environment.db.connect();
    await claims.query(`select pg_advisory_lock(hashtextextended('permits', 0))`);
    const id = await buildSend(environment.db.database, caller);
    await environment.db.sql(`update sends set phase = 'waiting', due_at = expires_at where id = $1`, [id]);
    await claims.end();
    return id;
  }

  it('is claimed for longer than the wait, and sent at the time of the permit', async () => {
    await work({ leaseMs: 10_000 });
    await delayNextPermit();
    const id = await waitingSend();
    const claimed = await environment.until(id, (row) => row.claimed_until !== null);
    expect(environment.tap.requests).toEqual([]);
    await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(1);
    const [attempt, ...others] = await environment.attempts(id);
    expect(others).toEqual([]);
    expect(claimed.claimed_until!.getTime()).toBeGreaterThan(attempt!.finished_at!.getTime());
  });

  it.each<[string, (context: WorkerContext, delay: () => Promise<unknown>) => void]>([
    [
      'after the claim',
      (context, delay) => {
        const { take } = context.deliveries;
        context.deliveries = {
          ...context.deliveries,
          take: async (id) => {
            const taken = await take(id);
            await delay();
            return taken;
          },
        };
      },
    ],
    [
      'before the call',
      (context, delay) => {
        const { openSender } = context;
        context.openSender = async (senderId) => {
          await delay();
          return openSender(senderId);
        };
      },
    ],
  ])(
    'is not sent by a worker that was frozen %s until its call might outlast its lease',
    async (_, freeze) => {
      // A call may last 5 seconds.
      const worker = await work({ leaseMs: 6_000 });
      let delayMs = 1_600;
      freeze(worker.context, () => {
        const ms = delayMs;
        delayMs = 0;
        return pause(ms);
      });
      const id = await buildSend(environment.db.database, caller);
      await environment.enqueue('live', id);
      await until('the end of the late delivery', async () =>
        (await environment.jobOutcomes(id)).includes('stale'),
      );
      expect(environment.tap.requests).toEqual([]);

      await environment.makeDue(id);
      expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
      expect(await environment.attempts(id)).toMatchObject([
        { number: 1, outcome: 'unknown' },
        { number: 2, outcome: 'accepted' },
      ]);
      expect(environment.tap.requests).toHaveLength(1);
      expect(environment.tap.requests[0]!.body).toContain(`${id}.2`);
    },
  );

  it('waits in its row instead of in the worker when the next permit is too far away', async () => {
    await work({ sweepPauseMs: null });
    await environment.db.sql(
      `insert into sender_permits (sender_id, free_at) select id, clock_timestamp() + interval '1 hour' from senders`,
    );
    const id = await environment.send(caller);
    expect(await environment.until(id, (row) => row.phase === 'waiting')).toMatchObject({
      status: 'queued',
      attempts: 0,
    });
    expect(environment.tap.requests).toEqual([]);
  });
});
