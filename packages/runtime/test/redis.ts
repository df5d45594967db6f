import { randomBytes } from 'node:crypto';
import {
  Consumer,
  openDeliveryQueue,
  BLOCKING,
  type DeliveryQueue,
  type QueueName,
  type JobData,
} from '@onecode/runtime';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { until } from '../../../test/harness/until.js';

/** A corner of the real Redis that belongs to one test file, with everything that its tests open there. */
export interface Corner {
  url: string;
  prefix: string;
  redis: Redis;
  /** A deliveryQueue that is ready, or one to another address that need not be. */
  openDeliveryQueue(url?: string): Promise<DeliveryQueue>;
  /** Works off a queue. */
  startWorker(queue: QueueName, work: (job: Job<JobData>) => Promise<unknown>, url?: string): void;
  /** The ids of the jobs that wait, first come first. */
  waiting(queue: QueueName): Promise<string[]>;
  /** Closes what was opened and removes every key. */
  clean(): Promise<void>;
  end(): Promise<void>;
}

export function openCorner(): Corner {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is missing: run the tests with npm test');
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const redis = new Redis(url);
  let opened: Array<{ close(): Promise<unknown> }> = [];

  const corner: Corner = {
    url,
    prefix,
    redis,
    async openDeliveryQueue(other) {
      const deliveryQueue = openDeliveryQueue({
        redisUrl: other ?? url,
        prefix,
        deliveryAttempts: 5,
        onError: () => {},
      });
      opened.push(deliveryQueue);
      if (other === undefined) await until('a delivery queue that is ready', () => deliveryQueue.isReady());
      return deliveryQueue;
    },
    startWorker(queue, work, other) {
      const connection = new Redis(other ?? url, BLOCKING);
      const worker = new Consumer(queue, work, { connection, prefix });
      connection.on('error', () => {});
      worker.on('error', () => {});
      opened.push(worker, { close: async () => connection.disconnect() });
    },
    waiting: (queue) => redis.lrange(`${prefix}:${queue}:wait`, 0, -1).then((ids) => ids.toReversed()),
    async clean() {
      for (const one of opened) await one.close();
      opened = [];
      const keys = await redis.keys(`${prefix}:*`);
      if (keys.length > 0) await redis.del(keys);
    },
    async end() {
      await corner.clean();
      redis.disconnect();
    },
  };
  return corner;
}
