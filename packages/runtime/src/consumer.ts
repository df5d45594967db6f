import { Worker, type Processor, type WorkerOptions } from 'bullmq';
import type { RedisOptions } from 'ioredis';
import { reconnectMs, type QueueName, type JobData } from './queues.js';

/** How long a consumer waits for a job before it looks whether Redis is still there. */
const BLOCK_SECONDS_MAX = 2;
const RETRY_MS = 1_000;

/**
 * Options for a consumer's connections: they wait for Redis as long as it takes. A connection that owes an answer for longer
 * than a consumer ever blocks is dead without a word, as after a lost network path, and is left for a new one.
 */
export const BLOCKING = {
  maxRetriesPerRequest: null,
  connectTimeout: 2_000,
  socketTimeout: 2 * BLOCK_SECONDS_MAX * 1_000,
  retryStrategy: reconnectMs,
} satisfies RedisOptions;

/**
 * A worker on one queue that works again within seconds of any outage's end: BullMQ by itself blocks for up to ten seconds on a
 * connection that may be dead, and rests for fifteen after an error.
 */
export class Consumer extends Worker<JobData> {
  constructor(queue: QueueName, process: Processor<JobData>, options: WorkerOptions) {
    super(queue, process, { drainDelay: BLOCK_SECONDS_MAX, runRetryDelay: RETRY_MS, ...options });
  }

  override get maximumBlockTimeout(): number {
    return BLOCK_SECONDS_MAX;
  }
}
