import { randomBytes } from 'node:crypto';
import {
  Consumer,
  connectRedis,
  openQueues,
  type JobData,
  type QueueName,
  type Queues,
} from '@onecode/runtime';
import { deleteKeys, testRedisUrl, untilQueueReady } from '@onecode/testing';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';

/** The queues of one test file in the shared Redis, and the connections that its tests open. */
export interface TestQueues {
  url: string;
  /** The prefix of their keys. */
  prefix: string;
  redis: Redis;
  /** Opens a delivery queue and waits until it is ready. Does not wait if a `url` is given. */
  open(url?: string): Promise<Queues>;
  /** Starts a consumer of a queue. */
  consume(queue: QueueName, work: (job: Job<JobData>) => Promise<unknown>, url?: string): void;
  /** Returns the ids of the waiting jobs, oldest first. */
  waiting(queue: QueueName): Promise<string[]>;
  /** Closes the connections of the test, and deletes every key. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export function openTestQueues(): TestQueues {
  const url = testRedisUrl();
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const redis = new Redis(url);
  let opened: Array<{ close(): Promise<unknown> }> = [];

  const queues: TestQueues = {
    url,
    prefix,
    redis,
    async open(other) {
      const deliveryQueue = openQueues({ REDIS_URL: other ?? url, QUEUE_PREFIX: prefix });
      opened.push(deliveryQueue);
      if (other === undefined) await untilQueueReady(deliveryQueue);
      return deliveryQueue;
    },
    consume(queue, work, other) {
      const connection = connectRedis({ REDIS_URL: other ?? url, QUEUE_PREFIX: prefix }, 'consume');
      const consumer = new Consumer(queue, work, { connection, prefix });
      consumer.on('error', () => {});
      opened.push(consumer, { close: async () => connection.disconnect() });
    },
    waiting: (queue) => redis.lrange(`${prefix}:${queue}:wait`, 0, -1).then((ids) => ids.toReversed()),
    async reset() {
      for (const one of opened) await one.close();
      opened = [];
      await deleteKeys(redis, prefix);
    },
    async close() {
      await queues.reset();
      redis.disconnect();
    },
  };
  return queues;
}
