import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker, type DeduplicationOptions, type Processor, type WorkerOptions } from 'bullmq';
import { checkRedis, connectRedis, keyPrefix, type RedisConfig } from './redis.js';

/** The queues. Jobs of `deliver` and `simulate` contain a send's id; jobs of `receipts` are empty. */
export const QUEUE_NAMES = ['deliver', 'simulate', 'receipts'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** The data of a job: only an id, because operators see the data in Redis and on the queue board. */
export interface JobData {
  sendId?: string;
}

/** How long finished jobs stay on the queue board, in seconds, and the maximum number of them. */
const KEPT_JOBS = {
  removeOnComplete: { age: 3_600, count: 1_000 },
  removeOnFail: { age: 7 * 86_400, count: 5_000 },
};

/**
 * The minimum interval between two jobs of one process for stored provider reports. Each job applies many reports. The first report after
 * the interval does not wait.
 */
export const REPORTS_PAUSE_MS = 300;

/** How long `readHealth` waits for the first connection. */
const CONNECT_MS_MAX = 1_000;

/** The queues, for adding jobs, which wake workers, and for reading their state. While Redis is unavailable, calls fail fast. */
export type Queues = ReturnType<typeof openQueues>;

/** Opens the queues. They connect in the background, so this succeeds while Redis is unavailable. */
export function openQueues(config: RedisConfig) {
  const connection = connectRedis(config, 'enqueue');
  const keys = keyPrefix(config);
  const open = (name: QueueName): Queue<JobData> => {
    const queue = new Queue<JobData>(name, {
      connection,
      prefix: keys,
      defaultJobOptions: KEPT_JOBS,
      skipVersionCheck: true,
      skipWaitingForReady: true,
      // BullMQ would write metadata of the queue now, which fails before the connection is open.
      skipMetasUpdate: true,
    });
    return queue.on('error', () => {});
  };
  const queues = { deliver: open('deliver'), simulate: open('simulate'), receipts: open('receipts') };
  /** Resolves when the first connection has succeeded or failed, or after a second. `readHealth` waits for it. */
  const opened = once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_MS_MAX) }).catch(() => {});
  const isReady = (): boolean => connection.status === 'ready';
  const ping = (): Promise<void> => checkRedis(connection, keys);
  let reportsJob: Promise<boolean> | null = null;
  let reportsEnqueuedAt = -Infinity;

  const add = async (
    name: QueueName,
    data: JobData,
    deduplication: DeduplicationOptions,
  ): Promise<boolean> => {
    if (!isReady()) return false;
    try {
      await queues[name].add(name, data, { deduplication });
      return true;
    } catch {
      return false;
    }
  };
  const countJobs = async (name: QueueName) => {
    const [isPaused, { waiting = 0, active = 0, failed = 0 }] = await Promise.all([
      queues[name].isPaused(),
      queues[name].getJobCounts('waiting', 'active', 'failed'),
    ]);
    return { name, isPaused, waiting, active, failed };
  };

  return {
    isReady,
    of: (name: QueueName): Queue<JobData> => queues[name],
    /**
     * Enqueues a job for a send, unless one is waiting or active. @returns whether Redis accepted the job; false is not an error, because
     * the missing job delays the send by a few seconds only
     */
    enqueue: (name: 'deliver' | 'simulate', sendId: string): Promise<boolean> =>
      add(name, { sendId }, { id: sendId }),
    /** Enqueues a job for the stored reports. Calls within `REPORTS_PAUSE_MS` of the last job share the next one. */
    enqueueReports(): Promise<boolean> {
      const waitMs = reportsEnqueuedAt + REPORTS_PAUSE_MS - performance.now();
      reportsJob ??= delay(Math.max(0, waitMs)).then(() => {
        reportsJob = null;
        reportsEnqueuedAt = performance.now();
        // A job enqueued while another one is active runs after it, because the active job may have read too early.
        return add('receipts', {}, { id: 'receipts', keepLastIfActive: true });
      });
      return reportsJob;
    },
    ping,
    /** Returns the latency of Redis and the job counts of the queues; null while Redis is unavailable or rejects writes. Never throws. */
    async readHealth() {
      await opened;
      const startedAt = performance.now();
      try {
        await ping();
      } catch {
        return { redisMs: null, queues: null };
      }
      const redisMs = performance.now() - startedAt;
      const counts = await Promise.all(QUEUE_NAMES.map(countJobs)).catch(() => null);
      return { redisMs, queues: counts };
    },
    async close(): Promise<void> {
      await Promise.all(Object.values(queues).map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

const RETRY_MS = 1_000;

/**
 * A BullMQ worker on one queue. Jobs of a worker that died run again after a minute at most; their sends do not wait for that, because the
 * delivery loop takes them.
 */
export class Consumer extends Worker<JobData> {
  constructor(queue: QueueName, process: Processor<JobData>, options: WorkerOptions) {
    super(queue, process, { runRetryDelay: RETRY_MS, ...options });
  }

  /** Pauses after a refusal, for example by a Redis that is out of memory: BullMQ would ask again immediately, without end. */
  protected override async moveToActive(
    ...next: Parameters<Worker['moveToActive']>
  ): ReturnType<Worker<JobData>['moveToActive']> {
    try {
      return await super.moveToActive(...next);
    } catch (error) {
      await this.delay(RETRY_MS);
      throw error;
    }
  }
}
