import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobsOptions, KeepJobs } from 'bullmq';
import {
  ANSWER_MS_MAX,
  openQueues,
  within,
  type JobData,
  type QueueName,
  type QueuesOptions,
} from './queues.js';

/** Finished jobs stay for the board, within bounds. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** A job only wakes a worker: an enqueue that takes longer than this is given up, and the sweeper enqueues again. */
const ENQUEUE_MS_MAX = ANSWER_MS_MAX;
/** Jobs on their way to Redis at the most, so that a frozen Redis does not fill our memory. */
const ENQUEUES_MAX = 2_000;

/** A send to enqueue. A send whose row has changed since has another version, and may be enqueued again. */
export interface SendToEnqueue {
  sendId: string;
  version: number;
}

interface DeliveryQueueOptions extends QueuesOptions {
  /** How often a delivery is tried before the board shows it as failed. */
  deliveryAttempts: number;
}

/** Wakes workers to look at sends and receipts. Redis may be away: a lost job costs a few seconds, never a send. */
export interface DeliveryQueue {
  /** Whether jobs can reach Redis now. */
  isReady(): boolean;
  /**
   * Enqueues a job for each of these sends, or one for the stored receipts. A send whose job of the same version still waits or is
   * being worked on gets no second one. What is enqueued in one turn of the event loop goes to Redis together.
   *
   * @returns whether Redis took the jobs; false is no error
   */
  enqueue(queue: 'deliver' | 'simulate', sends: readonly SendToEnqueue[]): Promise<boolean>;
  enqueue(queue: 'receipts'): Promise<boolean>;
  /** Answers when Redis does. @throws when it does not */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the delivery queue. Connects in the background, so it succeeds while Redis is away. */
export function openDeliveryQueue({ deliveryAttempts, ...options }: DeliveryQueueOptions): DeliveryQueue {
  const queues = openQueues(options);
  let underWay = 0;
  /** Sends of this turn, and whether Redis will have taken their jobs. */
  const batches = new Map<QueueName, { sends: SendToEnqueue[]; taken: Promise<boolean> }>();

  const openBatch = (name: QueueName): { sends: SendToEnqueue[]; taken: Promise<boolean> } => {
    const sends: SendToEnqueue[] = [];
    const taken = nextTurn().then(() => {
      batches.delete(name);
      return add(name, sends);
    });
    return { sends, taken };
  };
  const add = (name: QueueName, sends: readonly SendToEnqueue[]): Promise<boolean> => {
    const jobs = jobsOf(name, sends, deliveryAttempts);
    underWay += jobs.length;
    const queue = queues.of(name);
    const [first, ...others] = jobs;
    // One alone needs no pipeline and no transaction, which cost as much as the job.
    const added: Promise<unknown> =
      first !== undefined && others.length === 0
        ? queue.add(first.name, first.data, first.opts)
        : queue.addBulk(jobs);
    const taken = added.then(
      () => true,
      () => false,
    );
    void taken.finally(() => {
      underWay -= jobs.length;
    });
    return within(ENQUEUE_MS_MAX, taken);
  };

  return {
    isReady: () => queues.isReady(),
    async enqueue(name: QueueName, sends: readonly SendToEnqueue[] = []) {
      if (!queues.isReady() || underWay >= ENQUEUES_MAX) return false;
      const batch = batches.get(name) ?? openBatch(name);
      batches.set(name, batch);
      batch.sends.push(...sends);
      return batch.taken;
    },
    ping: () => queues.ping(),
    close: () => queues.close(),
  };
}

function jobsOf(
  name: QueueName,
  sends: readonly SendToEnqueue[],
  deliveryAttempts: number,
): { name: string; data: JobData; opts: JobsOptions }[] {
  const common: JobsOptions = {
    attempts: deliveryAttempts,
    backoff: { type: 'custom' },
    removeOnComplete: KEPT_COMPLETED,
    removeOnFail: KEPT_FAILED,
  };
  if (name === 'receipts')
    // A job that comes while receipts are applied must not be lost: it asks for one more round.
    return [{ name, data: {}, opts: { ...common, deduplication: { id: name, keepLastIfActive: true } } }];
  return sends.map(({ sendId, version }) => ({
    name,
    data: { sendId },
    opts: { ...common, deduplication: { id: `${sendId}-${version}` } },
  }));
}
