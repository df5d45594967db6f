import { maskRecipient } from '@onecode/domain';
import { QUEUE_NAMES, type QueueName, type Queues } from '@onecode/runtime';
import {
  listHeartbeats,
  listSenders,
  pingDatabase,
  readAttemptMinutes,
  readConnectionStatistics,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  type AttemptMinute,
  type Database,
  type Heartbeat,
  type ProviderAnswers,
  type ReceiptStatistics,
  type WaitingSends,
} from '@onecode/store';
import { senderState } from '../senders/view.js';

/** The jobs of a queue. */
export interface QueueFigures {
  name: QueueName;
  /** Whether somebody stopped it. */
  isPaused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  /** Kept for a week. */
  failed: number;
}

/** Whether a sender may send. */
export interface SenderFigures {
  id: string;
  /** All but a few digits are left out. */
  number: string;
  state: 'active' | 'resting' | 'paused';
  pausedUntil: Date | null;
  pauseReason: string | null;
  faults: number;
}

/** All that the health page tells of. What could not be read in time is null. */
export interface HealthFigures {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: QueueFigures[] | null;
  waiting: WaitingSends | null;
  attempts: AttemptMinute[] | null;
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  loops: Heartbeat[] | null;
  senders: SenderFigures[] | null;
}

/** Each source has so long to answer. */
const SOURCE_MS_MAX = 2_000;
/** Whoever asks so soon after an answer gets the same one. */
const SHARED_MS = 1_000;
const CHART_MINUTES = 30;
const PROVIDER_MINUTES = 5;

/** Reads all figures side by side; several people who watch the page share what is read. */
export function createHealthReader({
  database,
  queues,
}: {
  database: Database;
  queues: Queues;
}): () => Promise<HealthFigures> {
  const sources: { [Name in keyof HealthFigures]: () => Promise<HealthFigures[Name]> } = {
    postgresqlMs: source(() => millisecondsOf(() => pingDatabase(database))),
    redisMs: source(() => millisecondsOf(() => queues.ping())),
    connections: source(() => readConnectionStatistics(database)),
    queues: source(() => readQueues(queues)),
    waiting: source(() => readWaitingSends(database)),
    attempts: source(() => readAttemptMinutes(database, CHART_MINUTES)),
    provider: source(() => readProviderAnswers(database, PROVIDER_MINUTES)),
    receipts: source(() => readReceiptStatistics(database)),
    loops: source(() => listHeartbeats(database)),
    senders: source(() => readSenders(database)),
  };
  return async () => {
    const read = Object.entries(sources).map(async ([name, ask]) => [name, await ask()]);
    return Object.fromEntries(await Promise.all(read)) as HealthFigures;
  };
}

/**
 * A figure, or null when it cannot be read in time. One that takes long is waited for and not asked for again: a slow database must
 * not lose all its connections to those who look whether it is slow.
 */
function source<T>(read: () => Promise<T>): () => Promise<T | null> {
  let last: { value: Promise<T | null>; isFresh: () => boolean } | undefined;
  const ask = (): NonNullable<typeof last> => {
    let endedAt = Infinity;
    const value = read()
      .catch(() => null)
      .finally(() => {
        endedAt = performance.now();
      });
    return { value, isFresh: () => performance.now() - endedAt <= SHARED_MS };
  };
  return () => {
    if (last?.isFresh() !== true) last = ask();
    return inTime(last.value);
  };
}

async function millisecondsOf(ask: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await ask();
  return performance.now() - begun;
}

async function readQueues(queues: Queues): Promise<QueueFigures[]> {
  if (!queues.isReady()) throw new Error('Redis is not connected');
  return Promise.all(
    QUEUE_NAMES.map(async (name) => {
      const queue = queues.of(name);
      const [isPaused, counts] = await Promise.all([
        queue.isPaused(),
        queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
      ]);
      const count = (state: string): number => counts[state] ?? 0;
      return {
        name,
        isPaused,
        waiting: count('waiting') + count('prioritized'),
        active: count('active'),
        delayed: count('delayed'),
        failed: count('failed'),
      };
    }),
  );
}

async function readSenders(database: Database): Promise<SenderFigures[]> {
  const now = new Date();
  return (await listSenders(database)).map((sender) => {
    const state = senderState(sender, now);
    const isStopped = state !== 'active';
    return {
      id: sender.id,
      number: maskRecipient(sender.number),
      state,
      pausedUntil: isStopped ? sender.pausedUntil : null,
      pauseReason: isStopped ? sender.pauseReason : null,
      faults: sender.consecutiveFailures,
    };
  });
}

/** The answer, or null when it takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SOURCE_MS_MAX);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
