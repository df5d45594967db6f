import { until } from '@onecode/testing';
import { openTestQueues } from './testQueues.js';

describe('a delivery queue', () => {
  const queues = openTestQueues();
  afterEach(() => queues.reset());
  afterAll(() => queues.close());

  it('keeps the last 1,000 finished jobs', async () => {
    const deliveryQueue = await queues.open();
    queues.consume('deliver', async () => {});
    await Promise.all(Array.from({ length: 1_200 }, (_, n) => deliveryQueue.enqueue('deliver', `send-${n}`)));
    await until('a queue without waiting jobs', async () => (await queues.waiting('deliver')).length === 0);
    await until(
      'a queue without active jobs',
      async () => (await queues.redis.llen(`${queues.prefix}:deliver:active`)) === 0,
    );
    expect(await queues.redis.zcard(`${queues.prefix}:deliver:completed`)).toBe(1_000);
  });
});
