import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { JobsOptions, KeepJobs, Queue } from 'bullmq';
import { openQueues, type JobData, type QueueName, type QueuesOptions } from './queues.js';
import { readRedisHealth } from './redis/health.js';

/** How long finished jobs stay on the queue board, in seconds, and the maximum number of them. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/**
 * The minimum interval between two jobs for stored provider reports. Each job applies many reports. The first report after the interval
 * does not wait.
 */
export const REPORTS_PAUSE_MS = 200;

/**
 * Enqueues jobs that wake workers for sends and receipts. If Redis is unavailable, the missing job delays a send by a few seconds, and no
 * send is lost.
 */
export interface DeliveryQueue {
  /**
   * Enqueues a job for a send, unless one is waiting or active. Jobs enqueued in one turn of the event loop reach Redis in one round trip.
   *
   * @returns whether Redis accepted the job; false is not an error
   */
  enqueue(queue: 'deliver' | 'simulate', sendId: string): Promise<boolean>;
  /** Enqueues a job for the stored reports. Calls within `REPORTS_PAUSE_MS` of the last job share the next one. */
  enqueueReports(): Promise<boolean>;
  ping(): Promise<void>;
  readHealth(): ReturnType<typeof readRedisHealth>;
  close(): Promise<void>;
}

interface NewJob {
  name: QueueName;
  data: JobData;
  opts: JobsOptions;
}

/** The jobs of one turn of the event loop, by send id, and whether Redis accepted them. */
interface Batch {
  jobs: Map<string, NewJob>;
  accepted: Promise<boolean>;
}

/** Opens the delivery queue. It connects in the background, so this succeeds while Redis is unavailable. */
export function openDeliveryQueue(options: QueuesOptions): DeliveryQueue {
  const queues = openQueues(options);
  const batches = new Map<QueueName, Batch>();
  let reportsJob: Promise<boolean> | null = null;
  let reportsEnqueuedAt = -Infinity;

  const openBatch = (name: QueueName): Batch => {
    const jobs = new Map<string, NewJob>();
    const accepted = nextTurn().then(() => {
      batches.delete(name);
      return add(name, [...jobs.values()]);
    });
    return { jobs, accepted };
  };
  const add = (name: QueueName, jobs: readonly NewJob[]): Promise<boolean> =>
    addToQueue(queues.of(name), jobs).then(
      () => true,
      () => false,
    );

  return {
    async enqueue(name, sendId) {
      if (!queues.isReady()) return false;
      const batch = batches.get(name) ?? openBatch(name);
      batches.set(name, batch);
      batch.jobs.set(sendId, newJob(name, sendId));
      return batch.accepted;
    },
    enqueueReports() {
      const waitMs = reportsEnqueuedAt + REPORTS_PAUSE_MS - performance.now();
      reportsJob ??= delay(Math.max(0, waitMs)).then(() => {
        reportsJob = null;
        reportsEnqueuedAt = performance.now();
        return queues.isReady() && add('receipts', [newJob('receipts')]);
      });
      return reportsJob;
    },
    ping: () => queues.ping(),
    readHealth: () => readRedisHealth(queues),
    close: () => queues.close(),
  };
}

function newJob(name: QueueName, sendId?: string): NewJob {
  // A receipts job enqueued while another one is active runs after it, because the active job may have read too early.
  const deduplication = sendId === undefined ? { id: name, keepLastIfActive: true } : { id: sendId };
  return {
    name,
    data: sendId === undefined ? {} : { sendId },
    opts: { removeOnComplete: KEPT_COMPLETED, removeOnFail: KEPT_FAILED, deduplication },
  };
}

function addToQueue(queue: Queue<JobData>, jobs: readonly NewJob[]): Promise<unknown> {
  const [first, ...others] = jobs;
  // A single job needs no pipeline and no transaction, which cost as much as the job itself.
  return first !== undefined && others.length === 0
    ? queue.add(first.name, first.data, first.opts)
    : queue.addBulk([...jobs]);
}
