import pLimit, { type LimitFunction } from 'p-limit';
import { ConsoleProblem } from './problem.js';

/**
 * Lets work that holds database connections be done a little at a time, for each of those who ask for it and for all of them together.
 * However much somebody asks for, no more than `atOnceEach` of it ever stand before somebody else's.
 *
 * @returns a function that does something when it is the turn of whoever asks, or throws ConsoleProblem `rate_limited` when too much of
 *   theirs waits already
 */
export function fairTurns({
  atOnce,
  atOnceEach,
  waitingEachMax,
}: {
  atOnce: number;
  atOnceEach: number;
  waitingEachMax: number;
}): <T>(who: string, act: () => Promise<T>) => Promise<T> {
  const turns = pLimit(atOnce);
  /** Of those who have something under way. */
  const turnsOf = new Map<string, LimitFunction>();
  return async (who, act) => {
    const own = turnsOf.get(who) ?? pLimit(atOnceEach);
    if (own.pendingCount >= waitingEachMax) throw new ConsoleProblem('rate_limited');
    turnsOf.set(who, own);
    try {
      return await own(() => turns(act));
    } finally {
      if (own.activeCount + own.pendingCount === 0) turnsOf.delete(who);
    }
  };
}
