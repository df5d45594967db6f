import type { Database } from '../client/database.js';
import { forgetTries, returnTry, takeTry } from './countedTries.js';

/** Passwords that may be tried for one e-mail address in a window, from anywhere; second-factor codes of one signed-in person too. */
export const SIGN_IN_TRIES_MAX = 10;
const PASSWORDS = { max: SIGN_IN_TRIES_MAX, seconds: 900 };
/** Longer than any code of an authenticator is valid. */
const CODE_SECONDS = 120;

/** Counts a sign-in try of an e-mail address, whether or not somebody has it. @returns its number; null when none is left */
export async function takeSignInTry(database: Database, email: string): Promise<number | null> {
  return takeTry(database, email, PASSWORDS);
}

/**
 * The subject under which a signed-in person's second-factor codes are counted: as limited as passwords, but apart from the sign-in
 * tries, so that using them up keeps nobody from signing in.
 */
export const triesOfCodes = (userId: string): string => `codes of ${userId}`;

/** Takes back a try whose password was not checked. */
export const returnSignInTry = returnTry;

/** Resets an e-mail address's tries: its password was right, or is a new one. */
export const forgetSignInTries = forgetTries;

/**
 * Uses up a code of a person's authenticator: RFC 6238, 5.2, does not allow to accept it twice.
 *
 * @returns false when the code was used before
 */
export async function useTwoFactorCode(database: Database, userId: string, code: string): Promise<boolean> {
  return (await takeTry(database, `code ${code} of ${userId}`, { max: 1, seconds: CODE_SECONDS })) !== null;
}

/** Counts a request of somebody who signs in or up. @returns whether they may make it in this window */
export async function takeSignInRequest(
  database: Database,
  key: string,
  limit: { max: number; seconds: number },
): Promise<boolean> {
  return (await takeTry(database, `request ${key}`, limit)) !== null;
}
