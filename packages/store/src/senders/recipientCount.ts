import type { Connection } from '../client/database.js';

/** Returns the day (UTC) of a sender's last message within 24 hours; null without one. */
export async function findLastSentDay({ sql }: Connection, senderId: string): Promise<string | null> {
  const [row] = await sql.query<[{ day: string | null }]>`
    select to_char(max(finished_at) at time zone 'UTC', 'YYYY-MM-DD') as day from attempts
    where sender_id = ${senderId}::uuid and outcome = 'accepted' and finished_at >= statement_timestamp() - interval '1 day'`;
  return row.day;
}

/** Meta's largest limit of recipients in 24 hours, except for no limit. */
const MESSAGES_MAX = 100_000;

/**
 * Counts the recipients, in the last 24 hours, of all senders in this one's business portfolio; if it is unknown, in its business
 * account. Reads at most the last `MESSAGES_MAX` messages of each sender.
 */
export async function countRecipients({ sql }: Connection, senderId: string): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(distinct s.recipient_key)::integer as count
    from senders o join senders r
      on block_subject('portfolio', r.id, r.business_account_id, r.portfolio_id) = block_subject('portfolio', o.id, o.business_account_id, o.portfolio_id)
    cross join lateral (
      select send_id from attempts
      where sender_id = r.id and outcome = 'accepted' and finished_at >= statement_timestamp() - interval '1 day'
      order by finished_at desc limit ${MESSAGES_MAX}
    ) a cross join lateral (select recipient_key from sends where id = a.send_id limit 1) s
    where o.id = ${senderId}::uuid`;
  return row.count;
}
