import { QUEUE_NAMES, type Queues } from '../queues.js';
import { RefusedByRedis } from './check.js';

/** Returns the latency of Redis, why it refuses commands, and the job counts of the queues. Never throws. */
export async function readRedisHealth(queues: Queues) {
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

function readQueues(queues: Queues) {
  return Promise.all(
    QUEUE_NAMES.map(async (name) => {
      const queue = queues.of(name);
      const [isPaused, counts] = await Promise.all([
        queue.isPaused(),
        queue.getJobCounts('waiting', 'active', 'failed'),
      ]);
      const { waiting = 0, active = 0, failed = 0 } = counts;
      return { name, isPaused, waiting, active, failed };
    }),
  );
}
