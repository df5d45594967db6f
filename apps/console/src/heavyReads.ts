import pLimit, { type LimitFunction } from 'p-limit';
import { ConsoleProblem } from './problem.js';

/** A large account's month takes a connection for a fifth of a second; most connections are left to everybody else. */
const AT_ONCE = 4;
/** Half of them at the most are one account's, and no more of its reads stand in the line of all. */
const AT_ONCE_PER_ACCOUNT = 2;
const WAITING_PER_ACCOUNT_MAX = 40;

const turns = pLimit(AT_ONCE);
/** Of accounts that read something now. */
const turnsOf = new Map<string, LimitFunction>();

/**
 * Runs a read that takes long when it is its account's turn. However many somebody asks for, no more than two of them ever stand
 * before another account's.
 *
 * @throws ConsoleProblem `rate_limited` when too many reads of this account wait already
 */
export async function readInTurn<T>(accountId: string, read: () => Promise<T>): Promise<T> {
  const own = turnsOf.get(accountId) ?? pLimit(AT_ONCE_PER_ACCOUNT);
  if (own.pendingCount >= WAITING_PER_ACCOUNT_MAX) throw new ConsoleProblem('rate_limited');
  turnsOf.set(accountId, own);
  try {
    return await own(() => turns(read));
  } finally {
    if (own.activeCount + own.pendingCount === 0) turnsOf.delete(accountId);
  }
}
