import { Queue } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';

/** The queues. `deliver` and `simulate` carry send ids; `receipts` carries nothing but the nudge. */
export const QUEUE_NAMES = ['deliver', 'simulate', 'receipts'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** The data of every job: ids only, because Redis and the queue board are no place for anything else. */
export interface JobData {
  sendId?: string;
}

/** Redis has so long for an answer. */
export const ANSWER_MS_MAX = 2_000;

/** Milliseconds before the next attempt to reach Redis. */
export const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

/** Options for a connection whose commands must fail soon instead of waiting for Redis to come back. */
const FAIL_FAST = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  commandTimeout: ANSWER_MS_MAX,
  socketTimeout: ANSWER_MS_MAX + 1_000,
  retryStrategy: reconnectMs,
} satisfies RedisOptions;

export interface QueuesOptions {
  redisUrl: string;
  /** Keeps this service's queues apart from whatever else is in that Redis. */
  prefix: string;
  onError: (error: Error) => void;
}

/** The queues, for those who add to them or look at them. Redis may be away: what is asked of a queue then fails soon. */
export interface Queues {
  /** Whether anything can reach the queues now. */
  isReady(): boolean;
  of(name: QueueName): Queue<JobData>;
  /** Answers when Redis does. @throws when it does not */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queues. Connects in the background, so it succeeds while Redis is away. */
export function openQueues({ redisUrl, prefix, onError }: QueuesOptions): Queues {
  const connection = new Redis(redisUrl, FAIL_FAST);
  connection.on('error', onError);
  const queues = new Map<QueueName, Queue<JobData>>();
  let closed = false;
  // A closed connection still counts as ready until the socket's end is seen.
  const isReady = (): boolean => !closed && connection.status === 'ready';

  return {
    isReady,
    of(name) {
      let queue = queues.get(name);
      if (queue === undefined) {
        queue = new Queue<JobData>(name, {
          connection,
          prefix,
          skipVersionCheck: true,
          skipWaitingForReady: true,
        });
        queue.on('error', onError);
        queues.set(name, queue);
      }
      return queue;
    },
    async ping() {
      if (!isReady()) throw new Error('Redis is not connected');
      await connection.ping();
    },
    async close() {
      closed = true;
      await within(
        ANSWER_MS_MAX,
        Promise.all([...queues.values()].map((queue) => queue.close())).then(() => true),
      );
      connection.disconnect();
    },
  };
}

/** The answer, or false when it takes longer. */
export async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
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
