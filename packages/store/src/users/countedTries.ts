import { createHash } from 'node:crypto';
import type { Connection } from '../client/database.js';

/** Subjects are stored as hashes, because they contain people's addresses. */
const sha256 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(text).digest());

/**
 * Counts a try for a subject, in a window that starts with the first try. Concurrent tries are counted exactly.
 *
 * @param subject stored as its hash
 * @returns the number of the try, 1 to `max`; null if none is left
 */
export async function takeTry(
  { sql }: Pick<Connection, 'sql'>,
  subject: string,
  { max, seconds }: { max: number; seconds: number },
): Promise<number | null> {
  const [taken] = await sql.query<{ tries: number }[]>`
    insert into counted_tries as t (key_hash, tries, ends_at)
    values (${sha256(subject)}::bytea, 1, statement_timestamp() + make_interval(secs => ${seconds}::integer))
    on conflict (key_hash) do update set
      tries = case when t.ends_at > statement_timestamp() then t.tries + 1 else 1 end,
      ends_at = case when t.ends_at > statement_timestamp() then t.ends_at else excluded.ends_at end
    where t.tries < ${max}::integer or t.ends_at <= statement_timestamp()
    returning t.tries`;
  return taken?.tries ?? null;
}

/** Returns the seconds until the window of a subject's tries ends, at least 1. */
export async function secondsUntilTry({ sql }: Pick<Connection, 'sql'>, subject: string): Promise<number> {
  const [window] = await sql.query<{ seconds: number }[]>`
    select ceil(extract(epoch from ends_at - statement_timestamp()))::integer as seconds
    from counted_tries where key_hash = ${sha256(subject)}::bytea`;
  return Math.max(window?.seconds ?? 0, 1);
}

/** Subtracts a try from the count. */
export async function returnTry({ sql }: Connection, subject: string): Promise<void> {
  await sql.execute`
    update counted_tries set tries = tries - 1 where key_hash = ${sha256(subject)}::bytea and tries > 0`;
}

/** Resets the count of a subject. */
export async function forgetTries({ sql }: Connection, subject: string): Promise<void> {
  await sql.execute`delete from counted_tries where key_hash = ${sha256(subject)}::bytea`;
}

/** Deletes the counts of ended windows. */
export async function deleteEndedTries({ sql }: Connection): Promise<void> {
  await sql.execute`delete from counted_tries where ends_at < now()`;
}
