import { createHash } from 'node:crypto';
import type { Connection, Database } from './database.js';

/** Passwords that may be tried for one e-mail address within the window, from wherever; codes of one signed-in person too. */
export const SIGN_IN_TRIES_MAX = 10;
const WINDOW_MINUTES = 15;
/** Longer than any code of an authenticator holds. */
const CODE_SECONDS = 120;

const sha256 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(text).digest());

/**
 * Takes one of an e-mail address's tries before its password is judged, whether or not somebody has the address: tries at the
 * same time take one each.
 *
 * @returns which of `SIGN_IN_TRIES_MAX` it is, from 1 on; null when there is none left until the window has passed
 */
export async function takeSignInTry(database: Database, email: string): Promise<number | null> {
  await database.$executeRaw`
    delete from sign_in_tries where first_at < clock_timestamp() - make_interval(mins => ${WINDOW_MINUTES}::integer)`;
  const [taken] = await database.$queryRaw<{ tries: number }[]>`
    insert into sign_in_tries as t (email_hash, tries) values (${sha256(email)}::bytea, 1)
    on conflict (email_hash) do update set tries = t.tries + 1 where t.tries < ${SIGN_IN_TRIES_MAX}::integer
    returning t.tries`;
  return taken?.tries ?? null;
}

/**
 * The name under which the second-factor codes of somebody signed in are counted, beside e-mail addresses: their guesses at codes
 * are bounded like those at passwords, and using them up keeps nobody from signing in.
 */
export const triesOfCodes = (userId: string): string => `codes of ${userId}`;

/** Gives back a try whose password was not judged. */
export async function returnSignInTry(database: Database, email: string): Promise<void> {
  await database.$executeRaw`
    update sign_in_tries set tries = tries - 1 where email_hash = ${sha256(email)}::bytea and tries > 0`;
}

/** Forgets an e-mail address's tries: its password was right, or is a new one. */
export async function forgetSignInTries(connection: Connection, email: string): Promise<void> {
  await connection.$executeRaw`delete from sign_in_tries where email_hash = ${sha256(email)}::bytea`;
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
