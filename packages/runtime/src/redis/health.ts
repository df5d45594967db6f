import { QUEUE_NAMES, type QueueName, type Queues } from '../queues.js';
import { RefusedByRedis } from './check.js';

/** The jobs of a queue, by state. */
interface QueueHealth {
  name: QueueName;
  isPaused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

interface RedisHealth {
  /** Milliseconds to the answer to a write. */
  redisMs: number | null;
  redisRefusal: RefusedByRedis['reason'] | null;
  queues: QueueHealth[] | null;
}

/** Reads what Redis tells of itself and of the queues. Never throws. */
export async function readRedisHealth(queues: Queues): Promise<RedisHealth> {
  const startedAt = performance.now();
  try {
    await queues.ping();
  } catch (error) {
    const isRefused = error instanceof RefusedByRedis;
    return { redisMs: null, redisRefusal: isRefused ? error.reason : null, queues: null };
  }
  const redisMs = performance.now() - startedAt;
  return { redisMs, redisRefusal: null, queues: await readQueues(queues).catch(() => null) };
}

function readQueues(queues: Queues): Promise<QueueHealth[]> {
  return Promise.all(
    QUEUE_NAMES.map(async (name) => {
      const queue = queues.of(name);
      const [isPaused, counts] = await Promise.all([
        queue.isPaused(),
        queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
      ]);
      const count = (state: string): number => counts[state] ?? 0;
      return {
        name,
        isPaused,
        waiting: count('waiting') + count('prioritized'),
        active: count('active'),
        delayed: count('delayed'),
        failed: count('failed'),
      };
    }),
  );
}
