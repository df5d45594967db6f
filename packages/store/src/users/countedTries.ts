import { createHash } from 'node:crypto';
import type { Connection, Database } from '../client/database.js';

/** Tries are counted by people's addresses, which a hash does not show. */
export const sha256 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(text).digest());

/**
 * Counts a try of a subject, in a window that begins with its first try. Simultaneous tries count one each.
 *
 * @param subject stored as its hash
 * @returns the number of the try, 1 to `max`; null when none is left
 */
export async function takeTry(
  database: Database,
  subject: string,
  { max, seconds }: { max: number; seconds: number },
): Promise<number | null> {
  // The index finds what is older than 15 minutes, the shortest window.
  await database.sql.execute`
    delete from counted_tries
    where first_at < now() - interval '15 minutes' and first_at < now() - make_interval(secs => window_seconds)`;
  const [taken] = await database.sql.query<{ tries: number }[]>`
    insert into counted_tries as t (key_hash, tries, window_seconds)
    values (${sha256(subject)}::bytea, 1, ${seconds}::integer)
    on conflict (key_hash) do update set tries = t.tries + 1 where t.tries < ${max}::integer
    returning t.tries`;
  return taken?.tries ?? null;
}

/** Takes a try off the count. */
export async function returnTry(database: Database, subject: string): Promise<void> {
  await database.sql.execute`
    update counted_tries set tries = tries - 1 where key_hash = ${sha256(subject)}::bytea and tries > 0`;
}

/** Resets the count of a subject. */
export async function forgetTries(connection: Connection, subject: string): Promise<void> {
  await connection.sql.execute`delete from counted_tries where key_hash = ${sha256(subject)}::bytea`;
}
