import type { Connection } from '../client/database.js';

/** Returns the day (UTC) of a sender's last message within 24 hours; null without one. */
export async function findLastSentDay({ sql }: Connection, senderId: string): Promise<string | null> {
  const [row] = await sql.query<[{ day: string | null }]>`
    select to_char(max(sent_at) at time zone 'UTC', 'YYYY-MM-DD') as day from sends
    where id >= first_id_at(statement_timestamp() - interval '1 day 90 minutes') and sender_id = ${senderId}::uuid`;
  return row.day;
}

/**
 * Counts the recipients, in the last 24 hours, of all senders in this one's business portfolio; if it is unknown, in its business
 * account.
 */
export async function countRecipients({ sql }: Connection, senderId: string): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(distinct recipient_key)::integer as count from sends
    -- A code is active for at most 90 minutes, so a send that was created earlier was not sent within the day.
    where id >= first_id_at(statement_timestamp() - interval '1 day 90 minutes') and sent_at >= clock_timestamp() - interval '1 day'
      and sender_id = any(array(
        select r.id from senders r join senders o
          on block_subject('portfolio', r.id, r.business_account_id, r.portfolio_id) = block_subject('portfolio', o.id, o.business_account_id, o.portfolio_id)
        where o.id = ${senderId}::uuid
      ))`;
  return row.count;
}
