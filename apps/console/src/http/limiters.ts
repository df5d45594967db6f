import pLimit, { type LimitFunction } from 'p-limit';
import { ConsoleProblem } from './problem.js';

/** Runs a task when it is its turn. @throws when too many tasks wait already */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `concurrency` tasks at once, in the order in which they come.
 *
 * @param refusal makes the error that a task meets when `queuedMax` others wait already
 */
export function createLimiter({
  concurrency,
  queuedMax,
  refusal,
}: {
  concurrency: number;
  queuedMax: number;
  refusal: () => Error;
}): Limiter {
  const limit = pLimit(concurrency);
  return async (task) => {
    if (limit.pendingCount >= queuedMax) throw refusal();
    return limit(task);
  };
}

/**
 * Runs at most `concurrency` tasks at once, and of each key (a client, an account) at most `concurrencyPerKey`: however many tasks one
 * key has, no more than that many of them stand before another key's. Meant for tasks that hold a database connection.
 *
 * @returns a function that runs a task of a key, or throws ConsoleProblem `rate_limited` when `queuedPerKeyMax` of that key wait already
 */
export function createFairLimiter({
  concurrency,
  concurrencyPerKey,
  queuedPerKeyMax,
}: {
  concurrency: number;
  concurrencyPerKey: number;
  queuedPerKeyMax: number;
}): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const limitAll = pLimit(concurrency);
  /** Only of keys that have a task under way. */
  const limits = new Map<string, LimitFunction>();
  return async (key, task) => {
    const limitKey = limits.get(key) ?? pLimit(concurrencyPerKey);
    if (limitKey.pendingCount >= queuedPerKeyMax) throw new ConsoleProblem('rate_limited');
    limits.set(key, limitKey);
    try {
      return await limitKey(() => limitAll(task));
    } finally {
      if (limitKey.activeCount + limitKey.pendingCount === 0) limits.delete(key);
    }
  };
}
