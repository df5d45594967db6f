import type { Database } from './database.js';

/**
 * Forgets pairs of sender and recipient that may send all of their burst again. Leaves rows that somebody is using.
 *
 * @returns how many
 */
export async function deleteOldPairs(database: Database, limit: number): Promise<number> {
  return database.$executeRaw`
    delete from sender_pairs where ctid = any(array(
      select ctid from sender_pairs
      where free_at <= statement_timestamp() - pair_burst() limit ${limit} for update skip locked
    ))`;
}
