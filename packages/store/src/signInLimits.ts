import type { Connection, Database } from './database.js';
import { forgetTries, returnTry, sha256, takeTry } from './tries.js';

/** Passwords that may be tried for one e-mail address, from wherever. */
const PASSWORDS = { max: 10, seconds: 900 };
/** Longer than any code of an authenticator holds. */
const CODE_SECONDS = 120;

/**
 * Takes one of an e-mail address's tries before its password is judged, whether or not somebody has the address.
 *
 * @returns false when there is none left until the window has passed
 */
export async function takeSignInTry(database: Database, email: string): Promise<boolean> {
  return takeTry(database, email, PASSWORDS);
}

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
