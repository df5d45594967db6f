import { createRequire } from 'node:module';
import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { Tinypool } from 'tinypool';
import type { PasswordFault, WantedPassword } from '@onecode/store';
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

/** Judging a password takes some 40 ms. */
const JUDGEMENTS_QUEUED_MAX = 50;
const JUDGE_IDLE_MS = 60_000;

let judge: Tinypool | undefined;

/** One thread that starts on demand and ends when idle: its dictionaries take 60 MB and half a second to load. */
const startJudge = (): Tinypool =>
  new Tinypool({
    filename: createRequire(import.meta.url).resolve('@onecode/store/passwords'),
    name: 'passwordFault',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: JUDGE_IDLE_MS,
  });

/**
 * Tells why a new password is not good enough, or null. A thread of its own judges it, so that other requests are served meanwhile.
 *
 * @throws ConsoleProblem `rate_limited` when too many wait already
 */
export async function judgePassword(wanted: WantedPassword): Promise<PasswordFault | null> {
  judge ??= startJudge();
  if (judge.queueSize >= JUDGEMENTS_QUEUED_MAX) throw new ConsoleProblem('rate_limited');
  return (await judge.run(wanted)) as PasswordFault | null;
}
