import type { DeliveryQueue, JobData } from '@onecode/runtime';
import { until } from '@onecode/testing';
import type { Job } from 'bullmq';
import { openTestQueues } from './testQueues.js';

const queues = openTestQueues();
let deliveryQueue: DeliveryQueue;
beforeEach(async () => {
  deliveryQueue = await queues.open();
});
const held: (() => void)[] = [];
afterEach(async () => {
  for (const release of held.splice(0)) release();
  await queues.reset();
});
afterAll(() => queues.close());

const ONE = { sendId: '01990c1e-7c5a-7d2b-9a53-000000000001', version: 0 };
const TWO = { sendId: '01990c1e-7c5a-7d2b-9a53-000000000002', version: 0 };

/** Work that ends when the test releases it. */
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
  it('brings each send to its queue, in order', async () => {
    expect(await deliveryQueue.enqueue('deliver', [ONE, TWO])).toBe(true);
    expect(await deliveryQueue.enqueue('simulate', [TWO])).toBe(true);
    const seen: unknown[] = [];
    const work = async (job: Job<JobData>): Promise<void> => void seen.push([job.queueName, job.data]);
    queues.consume('deliver', work);
    await until('2 jobs', () => seen.length === 2);
    queues.consume('simulate', work);
    await until('3 jobs', () => seen.length === 3);
    expect(seen).toEqual([
      ['deliver', { sendId: ONE.sendId }],
      ['deliver', { sendId: TWO.sendId }],
      ['simulate', { sendId: TWO.sendId }],
    ]);
  });

  it('stands before another account’s flood when its account was quiet, and what was woken before both', async () => {
    const flood = Array.from({ length: 200 }, (_, n) => ({ ...ONE, version: n, accountId: 'flooding' }));
    await deliveryQueue.enqueue('deliver', flood);
    await deliveryQueue.enqueue('deliver', [{ ...TWO, accountId: 'quiet' }]);
    await deliveryQueue.enqueue('deliver', [{ ...TWO, version: 1 }]);
    expect(await deliveryQueue.countWaitingJobs('deliver')).toBe(1);
    const seen: (string | undefined)[] = [];
    queues.consume('deliver', async (job) => void seen.push(job.data.sendId));
    await until('all jobs', () => seen.length === 202);
    // Of the flood, one came first and had its account's first priority.
    expect([seen.indexOf(TWO.sendId), seen.lastIndexOf(TWO.sendId)]).toEqual([0, 2]);
  });

  it('holds only the id of the send; for receipts it holds nothing', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    await deliveryQueue.enqueue('receipts');
    const jobs = await Promise.all(
      (['deliver', 'receipts'] as const).map(async (queue) => {
        const [id] = await queues.waiting(queue);
        const { name, data } = await queues.redis.hgetall(`${queues.prefix}:${queue}:${id}`);
        return { name, data: JSON.parse(data ?? '') as unknown };
      }),
    );
    expect(jobs).toEqual([
      { name: 'deliver', data: { sendId: ONE.sendId } },
      { name: 'receipts', data: {} },
    ]);
  });

  it('is none for no sends, and the call succeeds', async () => {
    expect(await deliveryQueue.enqueue('deliver', [])).toBe(true);
    expect(await queues.waiting('deliver')).toEqual([]);
  });

  it('has as many attempts as a delivery', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    const [id] = await queues.waiting('deliver');
    const opts = await queues.redis.hget(`${queues.prefix}:deliver:${id}`, 'opts');
    expect(JSON.parse(opts ?? '')).toMatchObject({ attempts: 5, backoff: { type: 'custom' } });
  });

  it('is not duplicated while the first one waits, from whichever process', async () => {
    const other = await queues.open();
    await deliveryQueue.enqueue('deliver', [ONE, ONE]);
    await Promise.all([deliveryQueue.enqueue('deliver', [ONE, TWO]), other.enqueue('deliver', [ONE])]);
    expect(await queues.waiting('deliver')).toHaveLength(2);
    expect(await deliveryQueue.enqueue('deliver', [ONE])).toBe(true);
    expect(await queues.waiting('deliver')).toHaveLength(2);
  });

  it('of another version is a job of its own', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    await deliveryQueue.enqueue('deliver', [{ ...ONE, version: 1 }]);
    expect(await queues.waiting('deliver')).toHaveLength(2);
  });

  it('is not duplicated while the first one is being processed', async () => {
    const { begun, work, release } = heldWork();
    queues.consume('deliver', work);
    await deliveryQueue.enqueue('deliver', [ONE]);
    await until('job 1', () => begun.length === 1);
    expect(await deliveryQueue.enqueue('deliver', [ONE])).toBe(true);
    await deliveryQueue.enqueue('deliver', [TWO]);
    release();
    await until('job 2', () => begun.length === 2);
    expect(begun).toEqual([ONE.sendId, TWO.sendId]);
    release();
    await until('the end of job 2', async () => (await completed('deliver')) === 2);
    expect(await queues.waiting('deliver')).toEqual([]);
  });

  it('can be enqueued again once the first one is done', async () => {
    const { begun, work, release } = heldWork();
    queues.consume('deliver', work);
    for (const round of [1, 2, 3]) {
      await deliveryQueue.enqueue('deliver', [ONE]);
      await until('a job of this round', () => begun.length === round);
      release();
      await until('the end of this round’s job', async () => (await completed('deliver')) === round);
    }
    expect(begun).toEqual([ONE.sendId, ONE.sendId, ONE.sendId]);
  });
});

describe('a job for receipts', () => {
  it('waits once, however often it is enqueued', async () => {
    await deliveryQueue.enqueue('receipts');
    await deliveryQueue.enqueue('receipts');
    expect(await queues.waiting('receipts')).toHaveLength(1);
  });

  it('enqueued during a round causes exactly one more round', async () => {
    const { begun, work, release } = heldWork();
    queues.consume('receipts', work);
    await deliveryQueue.enqueue('receipts');
    await until('job 1', () => begun.length === 1);
    for (let n = 0; n < 3; n++) expect(await deliveryQueue.enqueue('receipts')).toBe(true);
    release();
    await until('job 2', () => begun.length === 2);
    release();
    await until('the end of job 2', async () => (await completed('receipts')) === 2);
    expect(await queues.waiting('receipts')).toEqual([]);
    expect(begun).toHaveLength(2);
  });

  it('enqueued after a round causes another one', async () => {
    const { begun, work, release } = heldWork();
    queues.consume('receipts', work);
    for (const round of [1, 2]) {
      await deliveryQueue.enqueue('receipts');
      await until('a job of this round', () => begun.length === round);
      release();
      await until('the end of this round’s job', async () => (await completed('receipts')) === round);
    }
  });
});

it('the number of finished jobs is bounded', async () => {
  queues.consume('deliver', async () => {});
  const many = Array.from({ length: 1_200 }, (_, version) => ({ ...ONE, version }));
  await deliveryQueue.enqueue('deliver', many);
  await until('a queue without waiting jobs', async () => (await queues.waiting('deliver')).length === 0);
  await until(
    'a queue without active jobs',
    async () => (await queues.redis.llen(`${queues.prefix}:deliver:active`)) === 0,
  );
  expect(await completed('deliver')).toBe(1_000);
});

it('a delivery queue answers a ping, and enqueues nothing once it is closed', async () => {
  await expect(deliveryQueue.ping()).resolves.toBeUndefined();
  await deliveryQueue.enqueue('deliver', [ONE]);
  await deliveryQueue.close();
  expect(deliveryQueue.isReady()).toBe(false);
  expect(await deliveryQueue.enqueue('deliver', [TWO])).toBe(false);
  await expect(deliveryQueue.ping()).rejects.toThrow('Redis is not connected');
});
