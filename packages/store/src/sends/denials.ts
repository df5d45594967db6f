import type { Denial } from '@onecode/domain';
import type { Database } from '../client/database.js';
import type { StoredReport } from './providerReports.js';

/** The send that a denial is about. */
export interface DeniedSend {
  applicationId: string;
  country: string | null;
  /** Whether this is the first denial of its message. */
  isNew: boolean;
}

/**
 * Stores a denial with the send of its message, and deletes its report. @returns null, with nothing changed, if no attempt has the message
 */
export async function applyDenial(
  database: Database,
  { key, report: { messageId, occurredAt } }: StoredReport<Denial>,
): Promise<DeniedSend | null> {
  const [row] = await database.sql.query<DeniedSend[]>`
    with known as materialized (
      select s.id, s.account_id, s.application_id, s.country from (
        select send_id from attempts where message_id = ${messageId}::text order by started_at limit 1
      ) a cross join lateral (select * from sends where id = a.send_id limit 1) s
    ), stored as (
      insert into denials (message_id, occurred_at, send_id, account_id, application_id, country)
      select ${messageId}::text, ${occurredAt}::timestamptz, id, account_id, application_id, country from known
      on conflict (message_id) do nothing returning message_id
    ), deleted as (
      delete from provider_reports where key = ${key}::text and exists (select from known)
    )
    select application_id as "applicationId", country, exists (select from stored) as "isNew" from known`;
  return row ?? null;
}
