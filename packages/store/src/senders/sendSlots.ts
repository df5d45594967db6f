import type { Database } from '../client/database.js';

/**
 * Forgets pairs of sender and recipient that may send all of their burst again. Leaves rows that somebody is using.
 *
 * @returns how many
 */
export async function deleteOldSenderRecipientWindows(database: Database, limit: number): Promise<number> {
  return database.$executeRaw`
    delete from sender_recipient_windows where ctid = any(array(
      select ctid from sender_recipient_windows
      where free_at <= statement_timestamp() - recipient_window_burst() limit ${limit} for update skip locked
    ))`;
}
