import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobsOptions, KeepJobs } from 'bullmq';
import {
  ANSWER_MS_MAX,
  openQueues,
  within,
  type QueueName,
  type QueuesOptions,
  type JobData,
} from './queues.js';

/** Finished jobs stay for the board, within bounds. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** A job is only a nudge: one that takes longer than this is given up, and the sweeper enqueues again. */
const ENQUEUE_MS_MAX = ANSWER_MS_MAX;
/** Jobs under way at the most, so that a frozen Redis does not fill our memory. */
const ENQUEUES_MAX = 2_000;

/** A nudge for one send. Its version is the version of the row: a send that has changed may be enqueued again. */
export interface Ring {
  sendId: string;
  version: number;
}

interface DeliveryQueueOptions extends QueuesOptions {
  /** How often a delivery is tried before the board shows it as failed. */
  deliveryAttempts: number;
}

/** Nudges workers to look at sends and receipts. Redis may be away: a lost job costs a few seconds, never a send. */
export interface DeliveryQueue {
  /** Whether rings can reach the queue now. */
  isReady(): boolean;
  /**
   * Rings for these sends, or for the stored receipts. A send whose ring of the same version is still waiting or being
   * worked on is not enqueued twice. What is enqueued in one turn of the event loop goes to Redis together.
   *
   * @returns whether Redis took the jobs; false is no error
   */
  ring(queue: 'deliver' | 'simulate', rings: readonly Ring[]): Promise<boolean>;
  ring(queue: 'receipts'): Promise<boolean>;
  /** Answers when Redis does. @throws when it does not */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the delivery queue. Connects in the background, so it succeeds while Redis is away. */
export function openDeliveryQueue({ deliveryAttempts, ...options }: DeliveryQueueOptions): DeliveryQueue {
  const queues = openQueues(options);
  let underWay = 0;
  /** Rings of this turn, and whether Redis will have taken them. */
  const gathered = new Map<QueueName, { rings: Ring[]; taken: Promise<boolean> }>();

  const gather = (name: QueueName): { rings: Ring[]; taken: Promise<boolean> } => {
    const rings: Ring[] = [];
    const taken = nextTurn().then(() => {
      gathered.delete(name);
      return add(name, jobs);
    });
    return { rings, taken };
  };
  const add = (name: QueueName, rings: readonly Ring[]): Promise<boolean> => {
    const jobs = jobsOf(name, rings, deliveryAttempts);
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
    async enqueue(name: QueueName, rings: readonly Ring[] = []) {
      if (!queues.isReady() || underWay >= ENQUEUES_MAX) return false;
      const all = gathered.get(name) ?? gather(name);
      gathered.set(name, all);
      all.rings.push(...jobs);
      return all.taken;
    },
    ping: () => queues.ping(),
    close: () => queues.close(),
  };
}

function jobsOf(
  name: QueueName,
  rings: readonly Ring[],
  deliveryAttempts: number,
): { name: string; data: JobData; opts: JobsOptions }[] {
  const common: JobsOptions = {
    attempts: deliveryAttempts,
    backoff: { type: 'custom' },
    removeOnComplete: KEPT_COMPLETED,
    removeOnFail: KEPT_FAILED,
  };
  if (name === 'receipts')
    // A job during a round must not be lost: it asks for one more round.
    return [{ name, data: {}, opts: { ...common, deduplication: { id: name, keepLastIfActive: true } } }];
  return rings.map(({ sendId, version }) => ({
    name,
    data: { sendId },
    opts: { ...common, deduplication: { id: `${sendId}-${version}` } },
  }));
}
