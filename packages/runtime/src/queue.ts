import { Queue, type JobsOptions, type KeepJobs } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';

/** The queues. `deliver` and `simulate` carry send ids; `receipts` carries nothing but the nudge. */
export type QueueName = 'deliver' | 'simulate' | 'receipts';

/** The data of every job: ids only, because Redis and the queue board are no place for anything else. */
export interface RingData {
  sendId?: string;
}

/** Finished jobs stay for the board, within bounds. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/** A ring is only a nudge: one that takes longer than this is given up, and the sweep rings again. */
const RING_MS_MAX = 2_000;
/** Rings under way at the most, so that a frozen Redis does not fill our memory. */
const RINGS_MAX = 2_000;

/** Milliseconds before the next attempt to reach Redis. */
export const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

/** Options for a connection whose commands must fail soon instead of waiting for Redis to come back. */
const IMPATIENT = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  commandTimeout: RING_MS_MAX,
  socketTimeout: RING_MS_MAX + 1_000,
  retryStrategy: reconnectMs,
} satisfies RedisOptions;

/** A nudge for one send. Its generation is the version of the row: a send that has changed may be rung again. */
export interface Ring {
  sendId: string;
  generation: number;
}

interface BellOptions {
  redisUrl: string;
  /** Keeps this service's queues apart from whatever else is in that Redis. */
  prefix: string;
  /** How often a delivery is tried before the board shows it as failed. */
  deliveryAttempts: number;
  onError: (error: Error) => void;
}

/** Nudges workers to look at sends and receipts. Redis may be away: a lost ring costs a few seconds, never a send. */
export interface Bell {
  /** Whether rings can reach the queue now. */
  isReady(): boolean;
  /**
   * Rings for these sends, or for the stored receipts. A send whose ring of the same generation is still waiting or being
   * worked on is not rung twice.
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
export function openBell({ redisUrl, prefix, deliveryAttempts, onError }: BellOptions): Bell {
  const connection = new Redis(redisUrl, IMPATIENT);
  connection.on('error', onError);
  const queues = new Map<QueueName, Queue<RingData>>();
  let underWay = 0;
  let closed = false;
  // A closed connection still counts as ready until the socket's end is seen.
  const isReady = (): boolean => !closed && connection.status === 'ready';

  const queueOf = (name: QueueName): Queue<RingData> => {
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = new Queue<RingData>(name, {
        connection,
        prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true,
      });
      queue.on('error', onError);
      queues.set(name, queue);
    }
    return queue;
  };

  return {
    isReady,
    async ring(name: QueueName, rings: readonly Ring[] = []) {
      if (!isReady() || underWay >= RINGS_MAX) return false;
      underWay += 1;
      const added = queueOf(name).addBulk(jobsOf(name, rings, deliveryAttempts));
      const taken = added.then(
        () => true,
        () => false,
      );
      void taken.finally(() => {
        underWay -= 1;
      });
      return within(RING_MS_MAX, taken);
    },
    async ping() {
      if (!isReady()) throw new Error('Redis is not connected');
      await connection.ping();
    },
    async close() {
      closed = true;
      await within(
        RING_MS_MAX,
        Promise.all([...queues.values()].map((queue) => queue.close())).then(() => true),
      );
      connection.disconnect();
    },
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

/** The answer, or false when it takes longer. */
async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
