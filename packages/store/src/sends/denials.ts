import type { Denial } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** A denial whose send is known, for who counts it. */
export interface MatchedDenial {
  applicationId: string;
  country: string | null;
}

/** Stores denials in one statement, each with its send if known, without those that are stored already. @returns how many are new */
export async function storeDenials(database: Database, denials: readonly Denial[]): Promise<number> {
  if (denials.length === 0) return 0;
  const records = denials.map(({ messageId, occurredAt }) => ({
    message_id: messageId,
    occurred_at: occurredAt.toISOString(),
  }));
  return database.sql.execute`
    insert into denials (message_id, occurred_at, send_id, account_id, application_id, country)
    select d.message_id, d.occurred_at, s.id, s.account_id, s.application_id, s.country
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as d (message_id text, occurred_at timestamptz)
    left join lateral (
      select send_id from attempts where message_id = d.message_id order by started_at limit 1
    ) a on true
    left join lateral (select * from sends where id = a.send_id limit 1) s on true
    -- In one order for everybody, as for receipts.
    order by d.message_id
    on conflict (message_id) do nothing`;
}

/** Tries to find a denial's message; about five minutes with the waits below, as for receipts. */
const TRIES_MAX = 10;
const WAIT_SECONDS_MAX = 60;

/** Gives due denials their sends; the others are due again, and finally left without. @returns those with one, and how many were due */
export async function matchDueDenials(
  database: Database,
  limit: number,
): Promise<{ matched: MatchedDenial[]; due: number }> {
  const rows = await database.sql.query<{ applicationId: string | null; country: string | null }[]>`
    with due as materialized (
      select message_id from denials where due_at <= statement_timestamp()
      order by due_at, message_id limit ${limit} for update skip locked
    ), known as materialized (
      select due.message_id, s.id as send_id, s.account_id, s.application_id, s.country
      from due
      left join lateral (
        select send_id from attempts where message_id = due.message_id order by started_at limit 1
      ) a on true
      left join lateral (select * from sends where id = a.send_id limit 1) s on true
    )
    update denials d set send_id = known.send_id, account_id = known.account_id, application_id = known.application_id,
      country = known.country, tries = d.tries + 1,
      due_at = case when known.send_id is null and d.tries + 1 < ${TRIES_MAX}::integer
        then clock_timestamp() + make_interval(secs => least(${WAIT_SECONDS_MAX}::integer, 2 ^ d.tries)) end
    from known where d.message_id = known.message_id
    returning d.application_id as "applicationId", d.country`;
  return {
    matched: rows.filter((row): row is MatchedDenial => row.applicationId !== null),
    due: rows.length,
  };
}
