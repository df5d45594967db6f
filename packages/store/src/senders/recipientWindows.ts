import type { Database } from '../client/database.js';

/**
 * Closes a sender–recipient window that the provider found full, for each refusal in a row by the next of `waitsMs`. A message that was
 * begun before the last refusal changes nothing.
 */
export async function closeRecipientWindow(
  database: Database,
  sendId: string,
  { senderId, startedAt, waitsMs }: { senderId: string; startedAt: Date; waitsMs: readonly number[] },
): Promise<void> {
  await database.sql.execute`
    with refused as (
      select hashtextextended(s.recipient_key, 0) as recipient_hash, ${[...waitsMs]}::integer[] as waits
      from sends s where s.id = ${sendId}::uuid
    )
    insert into sender_recipient_windows as w (sender_id, recipient_hash, refusals, refused_at, free_at)
    select ${senderId}::uuid, recipient_hash, 1, clock_timestamp(), clock_timestamp() + waits[1] * interval '1 millisecond' from refused
    on conflict (sender_id, recipient_hash) do update set
      refusals = least(w.refusals + 1, 1000), refused_at = excluded.refused_at,
      free_at = greatest(w.free_at, clock_timestamp() +
        (select waits[least(w.refusals + 1, cardinality(waits))] from refused) * interval '1 millisecond')
    where coalesce(w.refused_at < ${startedAt}, true)`;
}

/**
 * Deletes sender–recipient windows that are wholly free again, up to `limit`. Skips rows that are locked.
 *
 * @returns how many
 */
export async function deleteOldSenderRecipientWindows(database: Database, limit: number): Promise<number> {
  return database.sql.execute`
    delete from sender_recipient_windows where ctid = any(array(
      select ctid from sender_recipient_windows
      where free_at <= statement_timestamp() - recipient_window_burst() limit ${limit} for update skip locked
    ))`;
}
