import type { SenderKnowledge } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';

/**
 * Returns a sender that is due for a read, with the database's time, for one caller, and makes its next read due in ten minutes; returns
 * null if none is due. New senders are due immediately.
 */
export async function takeDueReading({
  sql,
}: Database): Promise<{ senderId: string; startedAt: Date } | null> {
  const [due = null] = await sql.query<{ senderId: string; startedAt: Date }[]>`
    with due as materialized (
      select id from senders where removed_at is null and read_due_at <= statement_timestamp() order by read_due_at limit 1 for no key update skip locked
    )
    update senders set read_due_at = clock_timestamp() + interval '10 minutes' where id in (select id from due)
    returning id as "senderId", clock_timestamp()::timestamptz(3) as "startedAt"`;
  return due;
}

/**
 * Requests a read of a sender now.
 *
 * @param accountId if given, only a sender of this account
 * @returns the time of the request by the database's clock, which is before the `triedAt` of the read; null if the sender does not exist
 */
export async function requestReading(
  { sql }: Connection,
  senderId: string,
  accountId: string | null = null,
): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date }[]>`
    -- Truncated: a rounded time would be in the future half of the time.
    update senders set read_due_at = date_trunc('milliseconds', clock_timestamp())
    where id = ${senderId}::uuid and removed_at is null and (${accountId}::uuid is null or account_id = ${accountId}::uuid)
    returning read_due_at as at`;
  return row?.at ?? null;
}

/** Returns the known facts of all senders, or of one sender. */
export async function listSenderKnowledge(
  { sql }: Connection,
  senderId: string | null = null,
): Promise<SenderKnowledge[]> {
  return sql.query<SenderKnowledge[]>`
    select s.id as "senderId", s.template, s.english_template_language as "englishTemplateLanguage", coalesce(n.facts, '{}') as number, coalesce(b.facts, '{}') as "businessAccount",
      coalesce(b.alerts, '[]') as alerts, (
        select coalesce(jsonb_agg(jsonb_build_object('language', t.language, 'facts', t.facts) order by t.language), '[]')
        from provider_facts t where t.subject = s.business_account_id and t.template = s.template
      ) as templates,
      s.read_tried_at as "triedAt", s.read_at as "readAt", s.read_failures as failures, s.recipients_24h as "recipients24h"
    from senders s left join provider_facts n on n.subject = s.id::text and n.template = ''
    left join provider_facts b on b.subject = s.business_account_id and b.template = ''
    where s.removed_at is null and coalesce(s.id = ${senderId}::uuid, true)
    order by s.id`;
}
