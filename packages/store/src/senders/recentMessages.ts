import type { Connection } from '../client/database.js';

/** Meta's largest limit of recipients in 24 hours, apart from unlimited. */
const MESSAGES_MAX = 100_000;

/**
 * Reads the messages of the last 24 hours, at most the last `MESSAGES_MAX` of each sender.
 *
 * @returns `recipients`: how many recipients all senders of this sender's business portfolio (or of its business account, if the portfolio
 * is unknown) have had; `lastSentOn`: the day (UTC) of this sender's last message, or null
 */
export async function readRecentMessages({ sql }: Connection, senderId: string) {
  const [row] = await sql.query<[{ recipients: number; lastSentOn: string | null }]>`
    select count(distinct s.recipient_key)::integer as recipients,
      to_char(max(a.finished_at) filter (where r.id = o.id) at time zone 'UTC', 'YYYY-MM-DD') as "lastSentOn"
    from senders o join senders r
      on block_subject('portfolio', r.id, r.business_account_id, r.portfolio_id) = block_subject('portfolio', o.id, o.business_account_id, o.portfolio_id)
    cross join lateral (
      select send_id, finished_at from attempts
      where sender_id = r.id and outcome = 'accepted' and finished_at >= statement_timestamp() - interval '1 day'
      order by finished_at desc limit ${MESSAGES_MAX}
    ) a cross join lateral (select recipient_key from sends where id = a.send_id limit 1) s
    where o.id = ${senderId}::uuid`;
  return row;
}
