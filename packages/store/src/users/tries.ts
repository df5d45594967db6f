import { createHash } from 'node:crypto';
import type { Connection, Database } from '../client/database.js';

/** A hash that tells nobody what was hashed by looking alike: tries are kept of addresses of people. */
export const sha256 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(text).digest());

/**
 * Takes one of the tries that something has within a time, which begins with the first of them. Whoever tries at the same time takes
 * one each.
 *
 * @param subject what is counted; its hash is kept
 * @returns which of `max` it is, from 1 on; null when there is none left
 */
export async function takeTry(
  database: Database,
  subject: string,
  { max, seconds }: { max: number; seconds: number },
): Promise<number | null> {
  // No window is shorter than 15 minutes, which the index finds.
  await database.$executeRaw`
    delete from counted_tries
    where first_at < now() - interval '15 minutes' and first_at < now() - make_interval(secs => window_seconds)`;
  const [taken] = await database.$queryRaw<{ tries: number }[]>`
    insert into counted_tries as t (key_hash, tries, window_seconds)
    values (${sha256(subject)}::bytea, 1, ${seconds}::integer)
    on conflict (key_hash) do update set tries = t.tries + 1 where t.tries < ${max}::integer
    returning t.tries`;
  return taken?.tries ?? null;
}

/** Gives back a try that came to nothing. */
export async function returnTry(database: Database, subject: string): Promise<void> {
  await database.$executeRaw`
    update counted_tries set tries = tries - 1 where key_hash = ${sha256(subject)}::bytea and tries > 0`;
}

/** Forgets all tries of something. */
export async function forgetTries(connection: Connection, subject: string): Promise<void> {
  await connection.$executeRaw`delete from counted_tries where key_hash = ${sha256(subject)}::bytea`;
}
