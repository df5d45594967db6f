import type { Database } from '../client/database.js';
import { forgetTries, returnTry, takeTry } from './countedTries.js';

/**
 * How many passwords may be tried per window for one e-mail address, from all networks together. The same limit applies to a signed-in
 * person's second-factor codes.
 */
export const SIGN_IN_TRIES_MAX = 10;
const PASSWORDS = { max: SIGN_IN_TRIES_MAX, seconds: 900 };
/** Longer than the validity of an authenticator's code. */
const CODE_SECONDS = 120;

/** Counts a sign-in try of an e-mail address, whether or not a user has it. @returns its number; null if none is left */
export async function takeSignInTry(database: Database, email: string): Promise<number | null> {
  return takeTry(database, email, PASSWORDS);
}

/**
 * Returns the subject that counts a signed-in person's second-factor codes. It has the same limit as passwords, but is counted separately,
 * so that using it up does not prevent the person from signing in.
 */
export const codeTriesSubject = (userId: string): string => `codes of ${userId}`;

/** Subtracts a try if its password was not checked. */
export const returnSignInTry = returnTry;

/** Resets an e-mail address's tries after a right or a new password. */
export const forgetSignInTries = forgetTries;

/**
 * Uses up a code of a person's authenticator. RFC 6238, 5.2, forbids accepting it twice.
 *
 * @returns false if the code was used before
 */
export async function useTwoFactorCode(database: Database, userId: string, code: string): Promise<boolean> {
  return (await takeTry(database, `code ${code} of ${userId}`, { max: 1, seconds: CODE_SECONDS })) !== null;
}

/** Counts a request to sign in or up. @returns whether the limit of this window allows it */
export async function takeSignInRequest(
  database: Database,
  key: string,
  limit: { max: number; seconds: number },
): Promise<boolean> {
  return (await takeTry(database, `request ${key}`, limit)) !== null;
}
