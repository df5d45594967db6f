import { Queue } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';

/** The queues. Jobs of `deliver` and `simulate` hold a send's id; those of `receipts` hold nothing. */
export const QUEUE_NAMES = ['deliver', 'simulate', 'receipts'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** The data of a job: an id only, because whoever reads Redis or the queue board may see it. */
export interface JobData {
  sendId?: string;
}

/** How long Redis may take for an answer. */
export const ANSWER_MS_MAX = 2_000;

/** Milliseconds before the next attempt to reach Redis. */
export const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

/** Options for a connection whose commands fail soon instead of waiting for Redis. */
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
  /** Separates this service's queues from other keys in the same Redis. */
  prefix: string;
  onError: (error: Error) => void;
}

/** The queues, for adding jobs and reading their state. While Redis is down, calls fail soon. */
export interface Queues {
  /** Whether Redis can be reached now. */
  isReady(): boolean;
  of(name: QueueName): Queue<JobData>;
  /** Answers when Redis does. @throws when it does not */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queues. They connect in the background, and so open while Redis is down. */
export function openQueues({ redisUrl, prefix, onError }: QueuesOptions): Queues {
  const connection = new Redis(redisUrl, FAIL_FAST);
  connection.on('error', onError);
  const queues = new Map<QueueName, Queue<JobData>>();
  let closed = false;
  // After `disconnect`, ioredis says `ready` until the socket has closed.
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

/** The answer, or false if it takes longer. */
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
