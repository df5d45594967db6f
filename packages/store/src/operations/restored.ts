import type { Connection } from '../client/database.js';

/** What a restored database tells of the moment that it holds, and of the live sends that go out again. */
export interface RestoredState {
  /** Of its newest row; null when it is empty. What happened later is gone. */
  newestAt: Date | null;
  /** Live sends that are not over, and whose code has not expired. */
  waiting: number;
  /** When the last of their codes expires; null without any. */
  lastExpiresAt: Date | null;
}

/** @param before when the database was first used after it was restored */
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
      where due_at is not null and mode = 'live' and phase <> 'giving_up' and expires_at > clock_timestamp()
    ) waiting`;
  return state;
}
