import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import pLimit from 'p-limit';

/** Hashing takes a thread for a tenth of a second, and there are four, for files and signatures too: two are left to them. */
const AT_ONCE = 2;
/** Some three seconds' worth. */
const WAITING_MAX = 50;

const turns = pLimit(AT_ONCE);

/** @throws APIError that is answered as `rate_limited`, when too many wait already */
async function inTurn<T>(hash: () => Promise<T>): Promise<T> {
  if (turns.pendingCount >= WAITING_MAX) throw new APIError('TOO_MANY_REQUESTS');
  return turns(hash);
}

/**
 * Hashes passwords a few at a time, so that however many sign in at once, from however many addresses, those who are signed in
 * are served.
 */
export const passwordsInTurn = {
  hash: (password: string): Promise<string> => inTurn(() => hashPassword(password)),
  verify: ({ hash, password }: { hash: string; password: string }): Promise<boolean> =>
    inTurn(() => verifyPassword({ hash, password })),
};
