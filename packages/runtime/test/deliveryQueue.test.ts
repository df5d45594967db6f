import type { DeliveryQueue, JobData } from '@onecode/runtime';
import type { Job } from 'bullmq';
import { until } from '../../../test/harness/until.js';
import { openCorner } from './redis.js';

const corner = openCorner();
let deliveryQueue: DeliveryQueue;
beforeEach(async () => {
  deliveryQueue = await corner.openDeliveryQueue();
});
const held: (() => void)[] = [];
afterEach(async () => {
  for (const release of held.splice(0)) release();
  await corner.clean();
});
afterAll(() => corner.end());

const ONE = { sendId: '01990c1e-7c5a-7d2b-9a53-000000000001', version: 0 };
const TWO = { sendId: '01990c1e-7c5a-7d2b-9a53-000000000002', version: 0 };

/** Work that a test lets end. */
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
  return corner.redis.zcard(`${corner.prefix}:${queue}:completed`);
}

describe('a job', () => {
  it('brings each send to its queue, in order', async () => {
    expect(await deliveryQueue.enqueue('deliver', [ONE, TWO])).toBe(true);
    expect(await deliveryQueue.enqueue('simulate', [TWO])).toBe(true);
    const seen: unknown[] = [];
    const work = async (job: Job<JobData>): Promise<void> => void seen.push([job.queueName, job.data]);
    corner.startWorker('deliver', work);
    await until('2 jobs', () => seen.length === 2);
    corner.startWorker('simulate', work);
    await until('3 jobs', () => seen.length === 3);
    expect(seen).toEqual([
      ['deliver', { sendId: ONE.sendId }],
      ['deliver', { sendId: TWO.sendId }],
      ['simulate', { sendId: TWO.sendId }],
    ]);
  });

  it('holds nothing but the id of the send, and the one for receipts nothing', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    await deliveryQueue.enqueue('receipts');
    const jobs = await Promise.all(
      (['deliver', 'receipts'] as const).map(async (queue) => {
        const [id] = await corner.waiting(queue);
        const { name, data } = await corner.redis.hgetall(`${corner.prefix}:${queue}:${id}`);
        return { name, data: JSON.parse(data ?? '') as unknown };
      }),
    );
    expect(jobs).toEqual([
      { name: 'deliver', data: { sendId: ONE.sendId } },
      { name: 'receipts', data: {} },
    ]);
  });

  it('for no send at all is taken and leaves nothing', async () => {
    expect(await deliveryQueue.enqueue('deliver', [])).toBe(true);
    expect(await corner.waiting('deliver')).toEqual([]);
  });

  it('is tried as often as deliveries are', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    const [id] = await corner.waiting('deliver');
    const opts = await corner.redis.hget(`${corner.prefix}:deliver:${id}`, 'opts');
    expect(JSON.parse(opts ?? '')).toMatchObject({ attempts: 5, backoff: { type: 'custom' } });
  });

  it('is not doubled while the first still waits, by whomever it is enqueued', async () => {
    const other = await corner.openDeliveryQueue();
    await deliveryQueue.enqueue('deliver', [ONE, ONE]);
    await Promise.all([deliveryQueue.enqueue('deliver', [ONE, TWO]), other.enqueue('deliver', [ONE])]);
    expect(await corner.waiting('deliver')).toHaveLength(2);
    expect(await deliveryQueue.enqueue('deliver', [ONE])).toBe(true);
    expect(await corner.waiting('deliver')).toHaveLength(2);
  });

  it('of another version is a job of its own', async () => {
    await deliveryQueue.enqueue('deliver', [ONE]);
    await deliveryQueue.enqueue('deliver', [{ ...ONE, version: 1 }]);
    expect(await corner.waiting('deliver')).toHaveLength(2);
  });

  it('is not doubled while the first is worked on', async () => {
    const { begun, work, release } = heldWork();
    corner.startWorker('deliver', work);
    await deliveryQueue.enqueue('deliver', [ONE]);
    await until('job 1', () => begun.length === 1);
    expect(await deliveryQueue.enqueue('deliver', [ONE])).toBe(true);
    await deliveryQueue.enqueue('deliver', [TWO]);
    release();
    await until('job 2', () => begun.length === 2);
    expect(begun).toEqual([ONE.sendId, TWO.sendId]);
    release();
    await until('the end of job 2', async () => (await completed('deliver')) === 2);
    expect(await corner.waiting('deliver')).toEqual([]);
  });

  it('can be enqueued again once the first is done', async () => {
    const { begun, work, release } = heldWork();
    corner.startWorker('deliver', work);
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
  it('waits once however often it is enqueued', async () => {
    await deliveryQueue.enqueue('receipts');
    await deliveryQueue.enqueue('receipts');
    expect(await corner.waiting('receipts')).toHaveLength(1);
  });

  it('during a round causes exactly one more round', async () => {
    const { begun, work, release } = heldWork();
    corner.startWorker('receipts', work);
    await deliveryQueue.enqueue('receipts');
    await until('job 1', () => begun.length === 1);
    for (let count = 0; count < 3; count++) expect(await deliveryQueue.enqueue('receipts')).toBe(true);
    release();
    await until('job 2', () => begun.length === 2);
    release();
    await until('the end of job 2', async () => (await completed('receipts')) === 2);
    expect(await corner.waiting('receipts')).toEqual([]);
    expect(begun).toHaveLength(2);
  });

  it('after a round causes another', async () => {
    const { begun, work, release } = heldWork();
    corner.startWorker('receipts', work);
    for (const round of [1, 2]) {
      await deliveryQueue.enqueue('receipts');
      await until('a job of this round', () => begun.length === round);
      release();
      await until('the end of this round’s job', async () => (await completed('receipts')) === round);
    }
  });
});

it('keeps finished jobs within bounds', async () => {
  corner.startWorker('deliver', async () => {});
  const many = Array.from({ length: 1_200 }, (_, version) => ({ ...ONE, version }));
  await deliveryQueue.enqueue('deliver', many);
  await until('a queue with nothing that waits', async () => (await corner.waiting('deliver')).length === 0);
  await until(
    'a queue with nothing under way',
    async () => (await corner.redis.llen(`${corner.prefix}:deliver:active`)) === 0,
  );
  expect(await completed('deliver')).toBe(1_000);
});

it('answers a ping, and no job once it is closed', async () => {
  await expect(deliveryQueue.ping()).resolves.toBeUndefined();
  await deliveryQueue.enqueue('deliver', [ONE]);
  await deliveryQueue.close();
  expect(deliveryQueue.isReady()).toBe(false);
  expect(await deliveryQueue.enqueue('deliver', [TWO])).toBe(false);
  await expect(deliveryQueue.ping()).rejects.toThrow('Redis is not connected');
});
