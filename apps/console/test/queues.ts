import { deleteKeys, testRedisUrl, until } from '@onecode/testing';
import { Redis } from 'ioredis';
import { openQueues, type Queues } from '@onecode/runtime';
import { newId } from '@onecode/store/client';

/** The queues of one console, as its workers and its API would use them. */
export interface TestQueues {
  queues: Queues;
  redis: Redis;
  /** A delivery that failed a minute ago. @returns the job's id */
  failedJob(sendId?: string, reason?: string): Promise<string>;
  /** Returns the state of a delivery's job. */
  stateOf(id: string): Promise<string | undefined>;
  /** Removes every key. */
  close(): Promise<void>;
}

export async function openTestQueues(prefix: string): Promise<TestQueues> {
  const queues = openQueues({ REDIS_URL: testRedisUrl(), QUEUE_PREFIX: prefix });
  const redis = new Redis(testRedisUrl());
  await until('queues', () => queues.isReady());
  return {
    queues,
    redis,
    async failedJob(sendId = newId(), reason = 'Error ECONNREFUSED') {
      const id = String((await queues.of('deliver').add('deliver', { sendId })).id);
      const key = `${prefix}:deliver`;
      const finishedOn = Date.now() - 60_000;
      await redis
        .multi()
        .lrem(`${key}:wait`, 1, id)
        .zadd(`${key}:failed`, finishedOn, id)
        .hset(`${key}:${id}`, 'failedReason', reason, 'finishedOn', finishedOn)
        .exec();
      return id;
    },
    stateOf: async (id) => (await queues.of('deliver').getJob(id))?.getState(),
    async close() {
      await queues.close();
      await deleteKeys(redis, prefix);
      redis.disconnect();
    },
  };
}
