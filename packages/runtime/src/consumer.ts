import { Worker, type Processor, type WorkerOptions } from 'bullmq';
import type { RedisOptions } from 'ioredis';
import { reconnectMs, type QueueName, type JobData } from './queues.js';

/** How long a consumer blocks for a job before it asks Redis again. */
const BLOCK_SECONDS_MAX = 2;
const RETRY_MS = 1_000;

/**
 * Options for a consumer's connections. Commands wait for Redis without limit. A connection without an answer for longer than a consumer
 * ever blocks is dead, as after a lost network path, and a new one replaces it.
 */
export const BLOCKING = {
  maxRetriesPerRequest: null,
  connectTimeout: 2_000,
  socketTimeout: 2 * BLOCK_SECONDS_MAX * 1_000,
  retryStrategy: reconnectMs,
} satisfies RedisOptions;

/**
 * A BullMQ worker on one queue that works again within seconds of the end of any outage. By default, BullMQ blocks for up to ten seconds
 * on a connection that may be dead, and waits for fifteen after an error.
 */
export class Consumer extends Worker<JobData> {
  constructor(queue: QueueName, process: Processor<JobData>, options: WorkerOptions) {
    super(queue, process, { drainDelay: BLOCK_SECONDS_MAX, runRetryDelay: RETRY_MS, ...options });
  }

  override get maximumBlockTimeout(): number {
    return BLOCK_SECONDS_MAX;
  }
}
