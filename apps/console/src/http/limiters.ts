import pLimit, { type LimitFunction } from 'p-limit';
import { ConsoleProblem } from './problem.js';

/** Runs a task when it is its turn. @throws when too many tasks are queued */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `concurrency` tasks at once, in the order in which they arrive.
 *
 * @param refusal creates the error for a task when `queuedMax` others are queued
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
 * Runs at most `concurrency` tasks at once, and at most `concurrencyPerKey` of each key (a client, an account): no matter how many tasks one
 * key has, at most that many of them run before another key's. Meant for tasks that hold a database connection.
 *
 * @returns a function that runs a task of a key, or throws ConsoleProblem `rate_limited` when `queuedPerKeyMax` of that key are queued
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
  /** Contains only keys that have a running or queued task. */
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
