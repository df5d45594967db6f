import { Queue } from 'bullmq';
import { keyPrefix } from './redis/address.js';
import { checkRedis, RefusedByRedis } from './redis/check.js';
import { connectRedis, type RedisSource } from './redis/connect.js';

/** The queues. Jobs of `deliver` and `simulate` contain a send's id; jobs of `receipts` are empty. */
export const QUEUE_NAMES = ['deliver', 'simulate', 'receipts'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** The data of a job: only an id, because operators see the data in Redis and on the queue board. */
export interface JobData {
  sendId?: string;
}

/** The outcomes of a send's job: how the delivery or simulation ended. */
export const JOB_OUTCOMES = [
  'accepted',
  'attempts_exhausted',
  'awaiting_receipt',
  'done',
  'expired_before_delivery',
  'gone',
  'no_sender',
  'not_due',
  'read',
  'rejected_by_provider',
  'released',
  'retry',
  'stale',
] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

/** The result of a send's job, shown on the queue board. */
export interface JobResult {
  outcome: JobOutcome;
}

export interface QueuesOptions extends RedisSource {
  /** Separates this service's queues from other keys in the same Redis. */
  prefix: string;
  onError: (error: Error) => void;
}

/** The queues, for adding jobs and reading their state. While Redis is unavailable, calls fail fast. */
export interface Queues {
  isReady(): boolean;
  of(name: QueueName): Queue<JobData>;
  ping(): Promise<void>;
  /** Returns the latency of Redis, why it refuses commands, and the job counts of the queues. Never throws. */
  readHealth(): Promise<RedisHealth>;
  close(): Promise<void>;
}

/** Null for values that could not be read. */
interface RedisHealth {
  redisMs: number | null;
  redisRefusal: RefusedByRedis['reason'] | null;
  queues: { name: QueueName; isPaused: boolean; waiting: number; active: number; failed: number }[] | null;
}

/** Opens the queues. They connect in the background, so this succeeds while Redis is unavailable. */
export function openQueues({ prefix, onError, ...source }: QueuesOptions): Queues {
  const connection = connectRedis(source, 'enqueue', onError);
  const keys = keyPrefix(source.redisUrl, prefix);
  let closed = false;
  const open = (name: QueueName): Queue<JobData> => {
    const queue = new Queue<JobData>(name, {
      connection,
      prefix: keys,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      // The queues are opened before the connection.
      skipMetasUpdate: true,
    });
    return queue.on('error', onError);
  };
  const queues = { deliver: open('deliver'), simulate: open('simulate'), receipts: open('receipts') };
  const ping = async (): Promise<void> => {
    if (closed) throw new Error('Redis is not connected');
    await checkRedis(connection, keys);
  };
  const countJobs = async (name: QueueName) => {
    const [isPaused, { waiting = 0, active = 0, failed = 0 }] = await Promise.all([
      queues[name].isPaused(),
      queues[name].getJobCounts('waiting', 'active', 'failed'),
    ]);
    return { name, isPaused, waiting, active, failed };
  };

  return {
    // After `disconnect`, ioredis reports `ready` until the socket has closed.
    isReady: () => !closed && connection.status === 'ready',
    of: (name) => queues[name],
    ping,
    async readHealth() {
      const startedAt = performance.now();
      try {
        await ping();
      } catch (error) {
        const redisRefusal = error instanceof RefusedByRedis ? error.reason : null;
        return { redisMs: null, redisRefusal, queues: null };
      }
      const redisMs = performance.now() - startedAt;
      const counts = await Promise.all(QUEUE_NAMES.map(countJobs)).catch(() => null);
      return { redisMs, redisRefusal: null, queues: counts };
    },
    async close() {
      closed = true;
      await Promise.all(Object.values(queues).map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}
