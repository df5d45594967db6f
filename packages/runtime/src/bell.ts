import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobsOptions, KeepJobs } from 'bullmq';
import {
  ANSWER_MS_MAX,
  openQueues,
  within,
  type QueueName,
  type QueuesOptions,
  type RingData,
} from './queues.js';

/** Finished jobs stay for the board, within bounds. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** A ring is only a nudge: one that takes longer than this is given up, and the sweep rings again. */
const RING_MS_MAX = ANSWER_MS_MAX;
/** Rings under way at the most, so that a frozen Redis does not fill our memory. */
const RINGS_MAX = 2_000;

/** A nudge for one send. Its generation is the version of the row: a send that has changed may be rung again. */
export interface Ring {
  sendId: string;
  generation: number;
}

interface BellOptions extends QueuesOptions {
  /** How often a delivery is tried before the board shows it as failed. */
  deliveryAttempts: number;
}

/** Nudges workers to look at sends and receipts. Redis may be away: a lost ring costs a few seconds, never a send. */
export interface Bell {
  /** Whether rings can reach the queue now. */
  isReady(): boolean;
  /**
   * Rings for these sends, or for the stored receipts. A send whose ring of the same generation is still waiting or being
   * worked on is not rung twice. What is rung for in one turn of the event loop goes to Redis together.
   *
   * @returns whether Redis took the rings; false is no error
   */
  ring(queue: 'deliver' | 'simulate', rings: readonly Ring[]): Promise<boolean>;
  ring(queue: 'receipts'): Promise<boolean>;
  /** Answers when Redis does. @throws when it does not */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the bell. Connects in the background, so it succeeds while Redis is away. */
export function openBell({ deliveryAttempts, ...options }: BellOptions): Bell {
  const queues = openQueues(options);
  let underWay = 0;
  /** Rings of this turn, and whether Redis will have taken them. */
  const gathered = new Map<QueueName, { rings: Ring[]; taken: Promise<boolean> }>();

  const gather = (name: QueueName): { rings: Ring[]; taken: Promise<boolean> } => {
    const rings: Ring[] = [];
    const taken = nextTurn().then(() => {
      gathered.delete(name);
      return add(name, rings);
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
    return within(RING_MS_MAX, taken);
  };

  return {
    isReady: () => queues.isReady(),
    async ring(name: QueueName, rings: readonly Ring[] = []) {
      if (!queues.isReady() || underWay >= RINGS_MAX) return false;
      const all = gathered.get(name) ?? gather(name);
      gathered.set(name, all);
      all.rings.push(...rings);
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
): { name: string; data: RingData; opts: JobsOptions }[] {
  const common: JobsOptions = {
    attempts: deliveryAttempts,
    backoff: { type: 'custom' },
    removeOnComplete: KEPT_COMPLETED,
    removeOnFail: KEPT_FAILED,
  };
  if (name === 'receipts')
    // A ring during a round must not be lost: it asks for one more round.
    return [{ name, data: {}, opts: { ...common, deduplication: { id: name, keepLastIfActive: true } } }];
  return rings.map(({ sendId, generation }) => ({
    name,
    data: { sendId },
    opts: { ...common, deduplication: { id: `${sendId}-${generation}` } },
  }));
}
