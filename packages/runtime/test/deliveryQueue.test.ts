import { REPORTS_PAUSE_MS, type JobData, type Queues } from '@onecode/runtime';
import {
  closedPort,
  startTcpProxy,
  startTcpServer,
  until,
  untilQueueReady,
  type TcpProxy,
} from '@onecode/testing';
import type { Job } from 'bullmq';
import { openTestQueues } from './testQueues.js';

async function msOf(answer: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await answer;
  return performance.now() - started;
}

describe('a delivery queue', () => {
  const queues = openTestQueues();
  let deliveryQueue: Queues;
  beforeEach(async () => {
    deliveryQueue = await queues.open();
  });
  const held: (() => void)[] = [];
  afterEach(async () => {
    for (const release of held.splice(0)) release();
    await queues.reset();
  });
  afterAll(() => queues.close());

  const ONE = '01990c1e-7c5a-7d2b-9a53-000000000001';
  const TWO = '01990c1e-7c5a-7d2b-9a53-000000000002';

  /** Returns work that ends when the test calls `release`. */
  function heldWork() {
    const begun: (string | undefined)[] = [];
    return {
      begun,
      work: (job: Job<JobData>): Promise<void> => {
        begun.push(job.data.sendId);
        return new Promise((resolve) => held.push(resolve));
      },
      release: () => held.shift()?.(),
    };
  }

  async function completed(queue: string): Promise<number> {
    return queues.redis.zcard(`${queues.prefix}:${queue}:completed`);
  }

  describe('an enqueued job', () => {
    it('is consumed from its queue, in order', async () => {
      const both = [deliveryQueue.enqueue('deliver', ONE), deliveryQueue.enqueue('deliver', TWO)];
      expect(await Promise.all(both)).toEqual([true, true]);
      expect(await deliveryQueue.enqueue('simulate', TWO)).toBe(true);
      const seen: unknown[] = [];
      const work = async (job: Job<JobData>): Promise<void> => void seen.push([job.queueName, job.data]);
      queues.consume('deliver', work);
      await until('2 jobs', () => seen.length === 2);
      queues.consume('simulate', work);
      await until('3 jobs', () => seen.length === 3);
      expect(seen).toEqual([
        ['deliver', { sendId: ONE }],
        ['deliver', { sendId: TWO }],
        ['simulate', { sendId: TWO }],
      ]);
    });

    it('contains only the id of the send, and nothing for receipts', async () => {
      await deliveryQueue.enqueue('deliver', ONE);
      await deliveryQueue.enqueueReports();
      const jobs = await Promise.all(
        (['deliver', 'receipts'] as const).map(async (queue) => {
          const [id] = await queues.waiting(queue);
          const { name, data } = await queues.redis.hgetall(`${queues.prefix}:${queue}:${id}`);
          return { name, data: JSON.parse(data ?? '') as unknown };
        }),
      );
      expect(jobs).toEqual([
        { name: 'deliver', data: { sendId: ONE } },
        { name: 'receipts', data: {} },
      ]);
    });

    it('is not added again by any process while the same job waits', async () => {
      const other = await queues.open();
      await Promise.all([deliveryQueue.enqueue('deliver', ONE), deliveryQueue.enqueue('deliver', ONE)]);
      await Promise.all([
        deliveryQueue.enqueue('deliver', ONE),
        deliveryQueue.enqueue('deliver', TWO),
        other.enqueue('deliver', ONE),
      ]);
      expect(await queues.waiting('deliver')).toHaveLength(2);
      expect(await deliveryQueue.enqueue('deliver', ONE)).toBe(true);
      expect(await queues.waiting('deliver')).toHaveLength(2);
    });

    it('is not added again while the same job is processed', async () => {
      const { begun, work, release } = heldWork();
      queues.consume('deliver', work);
      await deliveryQueue.enqueue('deliver', ONE);
      await until('job 1', () => begun.length === 1);
      expect(await deliveryQueue.enqueue('deliver', ONE)).toBe(true);
      await deliveryQueue.enqueue('deliver', TWO);
      release();
      await until('job 2', () => begun.length === 2);
      expect(begun).toEqual([ONE, TWO]);
      release();
      await until('the end of job 2', async () => (await completed('deliver')) === 2);
      expect(await queues.waiting('deliver')).toEqual([]);
    });
  });

  describe('a job for receipts', () => {
    it('is enqueued once for several calls', async () => {
      await deliveryQueue.enqueueReports();
      await deliveryQueue.enqueueReports();
      expect(await queues.waiting('receipts')).toHaveLength(1);
    });

    it('causes exactly one more run when enqueued during a run', async () => {
      const { begun, work, release } = heldWork();
      queues.consume('receipts', work);
      await deliveryQueue.enqueueReports();
      await until('job 1', () => begun.length === 1);
      for (let n = 0; n < 3; n++) expect(await deliveryQueue.enqueueReports()).toBe(true);
      release();
      await until('job 2', () => begun.length === 2);
      release();
      await until('the end of job 2', async () => (await completed('receipts')) === 2);
      expect(await queues.waiting('receipts')).toEqual([]);
      expect(begun).toHaveLength(2);
    });

    it('is enqueued immediately, and then once for all calls within the pause', async () => {
      queues.consume('receipts', async () => {});
      expect(await msOf(deliveryQueue.enqueueReports())).toBeLessThan(REPORTS_PAUSE_MS);
      const later = Array.from({ length: 50 }, () => deliveryQueue.enqueueReports());
      expect(await msOf(Promise.all(later))).toBeGreaterThan(REPORTS_PAUSE_MS / 2);
      await until('the end of both', async () => (await completed('receipts')) === 2);
      expect(await queues.waiting('receipts')).toEqual([]);
    });
  });

  it.each([
    ['deliver', () => deliveryQueue.enqueue('deliver', ONE)],
    ['receipts', () => deliveryQueue.enqueueReports()],
  ] as const)('enqueues a job for %s again after the previous one is done', async (queue, enqueue) => {
    const { begun, work, release } = heldWork();
    queues.consume(queue, work);
    for (const run of [1, 2, 3]) {
      await enqueue();
      await until('a job of this run', () => begun.length === run);
      release();
      await until('the end of this run’s job', async () => (await completed(queue)) === run);
    }
  });

  it('keeps the last 1,000 finished jobs', async () => {
    queues.consume('deliver', async () => {});
    await Promise.all(Array.from({ length: 1_200 }, (_, n) => deliveryQueue.enqueue('deliver', `send-${n}`)));
    await until('a queue without waiting jobs', async () => (await queues.waiting('deliver')).length === 0);
    await until(
      'a queue without active jobs',
      async () => (await queues.redis.llen(`${queues.prefix}:deliver:active`)) === 0,
    );
    expect(await completed('deliver')).toBe(1_000);
  });

  it('answers a ping, and enqueues nothing after it is closed', async () => {
    await expect(deliveryQueue.ping()).resolves.toBeUndefined();
    await deliveryQueue.enqueue('deliver', ONE);
    await deliveryQueue.close();
    expect(await deliveryQueue.enqueue('deliver', TWO)).toBe(false);
    await expect(deliveryQueue.ping()).rejects.toThrow();
  });
});

describe('a delivery queue during an outage of Redis', () => {
  const queues = openTestQueues();
  const proxies: TcpProxy[] = [];
  afterEach(async () => {
    await queues.reset();
    for (const proxy of proxies.splice(0)) await proxy.close();
  });
  afterAll(() => queues.close());

  /** An enqueue is abandoned after two seconds. A result within this time proves that the call did not wait for Redis. */
  const AT_ONCE_MS = 1_800;
  const IN_TIME_MS = 10_000;

  function urlAt(port: number): string {
    const url = new URL(queues.url);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    return url.href;
  }

  async function startProxy(): Promise<TcpProxy> {
    const proxy = await startTcpProxy(queues.url);
    proxies.push(proxy);
    return proxy;
  }

  async function openBehindProxy(): Promise<{ proxy: TcpProxy; deliveryQueue: Queues }> {
    const proxy = await startProxy();
    const deliveryQueue = await queues.open(proxy.url);
    await untilQueueReady(deliveryQueue);
    expect(await deliveryQueue.enqueue('deliver', 'before')).toBe(true);
    return { proxy, deliveryQueue };
  }

  /** Expects that enqueueing works again, and that the job is in Redis. */
  async function expectRecovery(deliveryQueue: Queues): Promise<void> {
    let enqueued = 0;
    await until('an enqueued job', () => deliveryQueue.enqueue('deliver', `after-${(enqueued += 1)}`));
    const jobs = await Promise.all(
      (await queues.waiting('deliver')).map((id) =>
        queues.redis.hget(`${queues.prefix}:deliver:${id}`, 'data'),
      ),
    );
    expect(jobs).toContain(JSON.stringify({ sendId: `after-${enqueued}` }));
    await expect(deliveryQueue.ping()).resolves.toBeUndefined();
  }

  describe.each([
    ['nothing listens at its address', closedPort],
    ['the server never answers', () => startTcpServer()],
  ])('when %s', (_, start) => {
    it('returns false for an enqueue immediately, and fails a ping', async () => {
      const deliveryQueue = await queues.open(urlAt(await start()));
      const answer = deliveryQueue.enqueue('deliver', 'one');
      expect(await msOf(answer)).toBeLessThan(AT_ONCE_MS);
      expect(await answer).toBe(false);
      expect(await deliveryQueue.enqueueReports()).toBe(false);
      await expect(deliveryQueue.ping()).rejects.toThrow();
      expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
    });
  });

  it('returns false for an enqueue while connections are refused, and recovers afterwards', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    await proxy.refuse();
    await until('a delivery queue that noticed', () =>
      deliveryQueue.ping().then(
        () => false,
        () => true,
      ),
    );
    const answers = Array.from({ length: 50 }, () => deliveryQueue.enqueue('deliver', 'lost'));
    expect(await msOf(Promise.all(answers))).toBeLessThan(AT_ONCE_MS);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([false]));
    await proxy.open();
    await expectRecovery(deliveryQueue);
  });

  it('returns false for an enqueue in progress when the connection breaks', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const answer = deliveryQueue.enqueue('deliver', 'under-way');
    await proxy.refuse();
    expect(await msOf(answer)).toBeLessThan(IN_TIME_MS);
    expect(await answer).toBe(false);
  });

  describe('when Redis freezes', () => {
    it('abandons enqueues and pings within ten seconds, and recovers afterwards', async () => {
      const { proxy, deliveryQueue } = await openBehindProxy();
      proxy.freeze();
      const answers = [
        deliveryQueue.enqueue('deliver', 'one'),
        deliveryQueue.enqueue('simulate', 'two'),
        deliveryQueue.enqueueReports(),
      ];
      const ping = deliveryQueue.ping().then(
        () => 'answered',
        () => 'failed',
      );
      expect(await msOf(Promise.all([...answers, ping]))).toBeLessThan(IN_TIME_MS);
      expect(await Promise.all(answers)).toEqual([false, false, false]);
      expect(await ping).toBe('failed');
      await proxy.open();
      await expectRecovery(deliveryQueue);
    });

    it('closes within ten seconds', async () => {
      const { proxy, deliveryQueue } = await openBehindProxy();
      proxy.freeze();
      const answer = deliveryQueue.enqueue('deliver', 'one');
      expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
      expect(await answer).toBe(false);
    });
  });

  describe('when a connection dies silently', () => {
    it('enqueues on a new connection', async () => {
      const { proxy, deliveryQueue } = await openBehindProxy();
      proxy.abandon();
      await expectRecovery(deliveryQueue);
    });

    it('lets a consumer continue on a new connection', async () => {
      const { proxy, deliveryQueue } = await openBehindProxy();
      const seen: unknown[] = [];
      queues.consume('deliver', async (job) => seen.push(job.data.sendId), proxy.url);
      await until('the job “before”', () => seen.includes('before'));
      proxy.abandon();
      await until('an enqueued job', () => deliveryQueue.enqueue('deliver', 'after'));
      await until('the job “after”', () => seen.includes('after'));
    });
  });
});
