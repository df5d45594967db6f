import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import pLimit from 'p-limit';
import { ConsoleProblem } from '../http/problem.js';

/** Hashing takes a thread for a tenth of a second, and there are four, for files and signatures too: two are left to them. */
const AT_ONCE = 2;
/** Some three seconds' worth. */
const WAITING_MAX = 50;

/** Does things a few at a time, in the order in which they come. @throws what `refusal` makes, when too many wait already */
function inTurn(refusal: () => Error): <T>(act: () => Promise<T>) => Promise<T> {
  const turns = pLimit(AT_ONCE);
  return async (act) => {
    if (turns.pendingCount >= WAITING_MAX) throw refusal();
    return turns(act);
  };
}

/** better-auth answers it, as `rate_limited`. */
const hashInTurn = inTurn(() => new APIError('TOO_MANY_REQUESTS'));

/**
 * Hashes passwords a few at a time, so that however many sign in at once, from however many addresses, those who are signed in
 * are served.
 */
export const passwordsInTurn = {
  hash: (password: string): Promise<string> => hashInTurn(() => hashPassword(password)),
  verify: ({ hash, password }: { hash: string; password: string }): Promise<boolean> =>
    hashInTurn(() => verifyPassword({ hash, password })),
};

/**
 * Lets people sign up a few at a time: better-auth hashes their passwords within a transaction, so that sign-ups which wait for their hash
 * would keep all database connections from everybody else.
 *
 * @throws ConsoleProblem `rate_limited` when too many wait already
 */
export const signUpInTurn = inTurn(() => new ConsoleProblem('rate_limited'));
