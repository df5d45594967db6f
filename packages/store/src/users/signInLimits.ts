import type { Connection, Database } from '../client/database.js';
import { forgetTries, returnTry, sha256, takeTry } from './tries.js';

/** Passwords that may be tried for one e-mail address, from wherever; codes of one signed-in person too. */
export const SIGN_IN_TRIES_MAX = 10;
const PASSWORDS = { max: SIGN_IN_TRIES_MAX, seconds: 900 };
/** Longer than any code of an authenticator holds. */
const CODE_SECONDS = 120;

/**
 * Takes one of an e-mail address's tries before its password is judged, whether or not somebody has the address.
 *
 * @returns which of `SIGN_IN_TRIES_MAX` it is, from 1 on; null when there is none left until the window has passed
 */
export async function takeSignInTry(database: Database, email: string): Promise<number | null> {
  return takeTry(database, email, PASSWORDS);
}

/**
 * The name under which the second-factor codes of somebody signed in are counted, beside e-mail addresses: their guesses at codes
 * are bounded like those at passwords, and using them up keeps nobody from signing in.
 */
export const triesOfCodes = (userId: string): string => `codes of ${userId}`;

/** Gives back a try whose password was not judged. */
export async function returnSignInTry(database: Database, email: string): Promise<void> {
  await returnTry(database, email);
}

/** Forgets an e-mail address's tries: its password was right, or is a new one. */
export async function forgetSignInTries(connection: Connection, email: string): Promise<void> {
  await forgetTries(connection, email);
}

/**
 * Uses up a code of somebody's authenticator (RFC 6238, 5.2: it must not be accepted twice).
 *
 * @returns false when it let them in before
 */
export async function useTwoFactorCode(database: Database, userId: string, code: string): Promise<boolean> {
  await database.$executeRaw`
    delete from used_two_factor_codes
    where user_id = ${userId}::uuid and used_at < clock_timestamp() - make_interval(secs => ${CODE_SECONDS}::integer)`;
  const used = await database.$executeRaw`
    insert into used_two_factor_codes (user_id, code_hash) values (${userId}::uuid, ${sha256(code)}::bytea)
    on conflict do nothing`;
  return used === 1;
}
