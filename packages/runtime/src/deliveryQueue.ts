import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobsOptions, KeepJobs } from 'bullmq';
import { createJobPriorities, type JobPriorities } from './jobPriorities.js';
import { openQueues, within, type JobData, type QueueName, type QueuesOptions } from './queues.js';
import { ANSWER_MS_MAX } from './redis/connect.js';
import { readRedisHealth } from './redis/health.js';

/** How many finished jobs stay visible on the queue board, in seconds and number. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** No caller waits longer for Redis: a job only wakes a worker, and a send is taken without one soon. */
const ENQUEUE_MS_MAX = ANSWER_MS_MAX;
/** The most jobs on their way to Redis, so that a frozen Redis does not fill our memory. */
const ENQUEUES_MAX = 2_000;

export interface SendToEnqueue {
  sendId: string;
  /** Whose send it is, for one that may stand behind other accounts' (`JobPriorities`). */
  accountId?: string;
}

/** Jobs that wake workers for sends and receipts. Redis may be down: a lost job costs a few seconds, never a send. */
export interface DeliveryQueue {
  isReady(): boolean;
  /**
   * Enqueues a job for each of these sends, or one for the stored receipts. A send whose job still waits or is active gets no second
   * one. What is enqueued in one turn of the event loop goes to Redis in one round trip.
   *
   * @returns whether Redis accepted the jobs; false is no error
   */
  enqueue(queue: 'deliver' | 'simulate', sends: readonly SendToEnqueue[]): Promise<boolean>;
  enqueue(queue: 'receipts'): Promise<boolean>;
  ping(): Promise<void>;
  readHealth(): ReturnType<typeof readRedisHealth>;
  close(): Promise<void>;
}

interface Batch {
  sends: SendToEnqueue[];
  accepted: Promise<boolean>;
}

/** Opens the delivery queue. It connects in the background, and so succeeds while Redis is down. */
export function openDeliveryQueue(options: QueuesOptions): DeliveryQueue {
  const queues = openQueues(options);
  let jobsUnderWay = 0;
  /** The sends of this turn of the event loop, and whether Redis accepts their jobs. */
  const batches = new Map<QueueName, Batch>();
  const priorityOf = createJobPriorities();

  const openBatch = (name: QueueName): Batch => {
    const sends: SendToEnqueue[] = [];
    const accepted = nextTurn().then(() => {
      batches.delete(name);
      return add(name, sends);
    });
    return { sends, accepted };
  };
  const add = (name: QueueName, sends: readonly SendToEnqueue[]): Promise<boolean> => {
    const jobs = jobsOf(name, sends, priorityOf);
    jobsUnderWay += jobs.length;
    const queue = queues.of(name);
    const [first, ...others] = jobs;
    // A single job goes without the pipeline and the transaction, which cost as much as the job.
    const added: Promise<unknown> =
      first !== undefined && others.length === 0
        ? queue.add(first.name, first.data, first.opts)
        : queue.addBulk(jobs);
    const accepted = added.then(
      () => true,
      () => false,
    );
    void accepted.finally(() => {
      jobsUnderWay -= jobs.length;
    });
    return within(ENQUEUE_MS_MAX, accepted);
  };

  return {
    isReady: () => queues.isReady(),
    async enqueue(name: QueueName, sends: readonly SendToEnqueue[] = []) {
      if (!queues.isReady() || jobsUnderWay >= ENQUEUES_MAX) return false;
      const batch = batches.get(name) ?? openBatch(name);
      batches.set(name, batch);
      batch.sends.push(...sends);
      return batch.accepted;
    },
    ping: () => queues.ping(),
    readHealth: () => readRedisHealth(queues),
    close: () => queues.close(),
  };
}

function jobsOf(
  name: QueueName,
  sends: readonly SendToEnqueue[],
  priorityOf: JobPriorities,
): { name: string; data: JobData; opts: JobsOptions }[] {
  const common: JobsOptions = {
    removeOnComplete: KEPT_COMPLETED,
    removeOnFail: KEPT_FAILED,
  };
  if (name === 'receipts')
    // A job that comes while receipts are applied must not be lost: it asks for another round.
    return [{ name, data: {}, opts: { ...common, deduplication: { id: name, keepLastIfActive: true } } }];
  return sends.map(({ sendId, accountId }) => {
    const deduplication = { id: sendId };
    // Jobs without a priority stand before all that have one.
    const priority = accountId === undefined ? {} : { priority: priorityOf(accountId, performance.now()) };
    return { name, data: { sendId }, opts: { ...common, deduplication, ...priority } };
  });
}
