import type { Send } from '@onecode/domain';
import type { Database } from './database.js';

/** Which message wants to go. */
export type SlotWant = Pick<Send, 'accountId' | 'recipient' | 'country'>;

/** A sender's leave for one message. */
export interface TakenSlot {
  senderId: string;
  /** Milliseconds from the database's now until the message may go. */
  waitMs: number;
}

/**
 * Takes a slot for each want, in the order of the wants, or none where it is held, or no sender that may serve it has one
 * within the horizon.
 * Exact for any number of callers: no sender and no pair of sender and recipient ever gets more than the provider takes (see
 * `take_slots_unless_held`).
 */
export async function takeSlots(
  database: Database,
  wants: readonly SlotWant[],
  horizonMs: number,
): Promise<(TakenSlot | null)[]> {
  const rows = await database.$queryRaw<{ sender_id: string | null; wait_ms: number }[]>`
    select sender_id, wait_ms from take_slots_unless_held(
      ${wants.map(({ accountId }) => accountId)}::uuid[], ${wants.map(({ recipient }) => recipient)}::text[], ${wants.map(({ country }) => country)}::text[], ${horizonMs}::integer
    ) order by want`;
  return rows.map((row) =>
    row.sender_id === null ? null : { senderId: row.sender_id, waitMs: row.wait_ms },
  );
}

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
