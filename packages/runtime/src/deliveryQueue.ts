import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { JobsOptions, KeepJobs, Queue } from 'bullmq';
import { openQueues, type JobData, type QueueName, type QueuesOptions } from './queues.js';
import { readRedisHealth } from './redis/health.js';

/** How many finished jobs stay visible on the queue board, in seconds and number. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** The most jobs on their way to Redis, so that a frozen Redis does not fill our memory. */
const ENQUEUES_MAX = 2_000;

/** Stored reports of the provider are applied at most this often, many together. The first ones after a pause do not wait. */
export const REPORTS_PAUSE_MS = 200;

/** Jobs that wake workers for sends and receipts. Redis may be down: a lost job costs a few seconds, never a send. */
export interface DeliveryQueue {
  /**
   * Enqueues a job for a send. A send whose job is waiting or active gets no second one. Jobs that are enqueued in one turn of the event
   * loop reach Redis in one round trip.
   *
   * @returns whether Redis accepted the job; false is no error
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

/** The jobs of one turn of the event loop, by what they are for, and whether Redis accepts them. */
interface Batch {
  jobs: Map<string, NewJob>;
  accepted: Promise<boolean>;
}

/** Opens the delivery queue. It connects in the background, and so succeeds while Redis is down. */
export function openDeliveryQueue(options: QueuesOptions): DeliveryQueue {
  const queues = openQueues(options);
  const batches = new Map<QueueName, Batch>();
  let jobsUnderWay = 0;
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
  const add = (name: QueueName, jobs: readonly NewJob[]): Promise<boolean> => {
    jobsUnderWay += jobs.length;
    return addToQueue(queues.of(name), jobs)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        jobsUnderWay -= jobs.length;
      });
  };

  return {
    async enqueue(name, sendId) {
      if (!queues.isReady() || jobsUnderWay >= ENQUEUES_MAX) return false;
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
  // A job for receipts that is enqueued while another one is active runs after it: the active one may have read too early.
  const deduplication = sendId === undefined ? { id: name, keepLastIfActive: true } : { id: sendId };
  return {
    name,
    data: sendId === undefined ? {} : { sendId },
    opts: { removeOnComplete: KEPT_COMPLETED, removeOnFail: KEPT_FAILED, deduplication },
  };
}

function addToQueue(queue: Queue<JobData>, jobs: readonly NewJob[]): Promise<unknown> {
  const [first, ...others] = jobs;
  // A single job is added without the pipeline and the transaction, which cost as much as the job.
  return first !== undefined && others.length === 0
    ? queue.add(first.name, first.data, first.opts)
    : queue.addBulk([...jobs]);
}
