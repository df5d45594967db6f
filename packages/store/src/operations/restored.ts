import type { Connection } from '../client/database.js';

/** The state of a restored database: how recent it is, and how many live sends will be sent again. */
export interface RestoredState {
  /** The time of its newest row; null if it is empty. Everything later is lost. */
  newestAt: Date | null;
  /** Unfinished live sends with a code that has not expired. */
  waiting: number;
  /** When the last of their codes expires; null without such sends. */
  lastExpiresAt: Date | null;
}

/** Reads the state of a restored database. @param before when the database was first used after it was restored */
export async function readRestoredState({ sql }: Connection, before: Date): Promise<RestoredState> {
  const [state] = await sql.query<[RestoredState]>`
    select
      greatest(
        (select created_at from sends where id < first_id_at(${before}::timestamptz) order by id desc limit 1),
        (select at from audit_entries where at < ${before}::timestamptz order by id desc limit 1),
        (select created_at from ledger_entries where created_at < ${before}::timestamptz order by id desc limit 1),
        (select finished_at from attempts where finished_at < ${before}::timestamptz order by finished_at desc limit 1)
      ) as "newestAt",
      waiting.count as waiting, waiting.last as "lastExpiresAt"
    from (
      select count(*)::integer as count, max(expires_at) as last from sends
      where due_at is not null and mode = 'live' and phase <> 'giving_up' and verification = 'pending' and expires_at > clock_timestamp()
    ) waiting`;
  return state;
}
