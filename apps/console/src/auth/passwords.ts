import { setImmediate } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { passwordFault, type PasswordFault, type WantedPassword } from '@onecode/store/users';
import { createLimiter } from '../http/limiters.js';
import { ConsoleProblem } from '../http/problem.js';

/**
 * Hashing keeps one of libuv's four threads busy for a tenth of a second. Two of them stay free for files and signatures. Fifty queued
 * hashes take about three seconds.
 */
const HASHING = { concurrency: 2, queuedMax: 50 };

/** better-auth turns this refusal into `rate_limited`. */
const limitHashing = createLimiter({ ...HASHING, refusal: () => new APIError('TOO_MANY_REQUESTS') });

/**
 * Hashes and checks at most two passwords at once, so that any number of simultaneous sign-ins does not block users who are
 * already signed in.
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
 * @throws ConsoleProblem `rate_limited` when too many are queued
 */
export const limitSignUps = createLimiter({ ...HASHING, refusal: () => new ConsoleProblem('rate_limited') });

/** Checking a password's strength blocks this thread for up to 30 ms, so other requests run between two checks. */
const limitJudgements = createLimiter({
  concurrency: 1,
  queuedMax: 50,
  refusal: () => new ConsoleProblem('rate_limited'),
});

/**
 * Returns why a new password is not strong enough, or null.
 *
 * @throws ConsoleProblem `rate_limited` when too many are queued
 */
export const judgePassword = (wanted: WantedPassword): Promise<PasswordFault | null> =>
  limitJudgements(async () => {
    await setImmediate();
    return passwordFault(wanted);
  });
