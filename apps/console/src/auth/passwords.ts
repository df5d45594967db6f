import { setImmediate } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { passwordFault, type PasswordFault, type WantedPassword } from '@onecode/store/users';
import { createLimiter } from '../http/limiters.js';
import { ConsoleProblem } from '../http/problem.js';

/**
 * Hashing keeps one of libuv's four threads busy for a tenth of a second. Two of them stay free for files and signatures. Fifty waiting
 * hashes take some three seconds.
 */
const HASHING = { concurrency: 2, queuedMax: 50 };

/** better-auth turns this refusal into `rate_limited`. */
const limitHashing = createLimiter({ ...HASHING, refusal: () => new APIError('TOO_MANY_REQUESTS') });

/**
 * Hashes and checks at most two passwords at once. However many people sign in at once, from however many addresses, those who are
 * signed in are still served.
 */
export const limitedPasswordHasher = {
  hash: (password: string): Promise<string> => limitHashing(() => hashPassword(password)),
  verify: ({ hash, password }: { hash: string; password: string }): Promise<boolean> =>
    limitHashing(() => verifyPassword({ hash, password })),
};

/**
 * Runs at most two sign-ups at once. better-auth hashes the password of a sign-up inside a transaction: without this limit, sign-ups that
 * wait for their hash would take all database connections.
 *
 * @throws ConsoleProblem `rate_limited` when too many wait already
 */
export const limitSignUps = createLimiter({ ...HASHING, refusal: () => new ConsoleProblem('rate_limited') });

/** Judging a password blocks this thread for up to 30 ms, so that other requests take their turns in between. */
const limitJudgements = createLimiter({
  concurrency: 1,
  queuedMax: 50,
  refusal: () => new ConsoleProblem('rate_limited'),
});

/**
 * Tells why a new password is not good enough, or null.
 *
 * @throws ConsoleProblem `rate_limited` when too many wait already
 */
export const judgePassword = (wanted: WantedPassword): Promise<PasswordFault | null> =>
  limitJudgements(async () => {
    await setImmediate();
    return passwordFault(wanted);
  });
