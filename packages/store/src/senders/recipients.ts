import type { Connection } from '../client/database.js';

/** Meta's largest limit of recipients in 24 hours, apart from unlimited. */
const MESSAGES_MAX = 100_000;

/**
 * Returns how many recipients all senders of a sender's business portfolio (or of its business account, if the portfolio is unknown) have
 * had in the last 24 hours. Counts at most the last `MESSAGES_MAX` messages of each sender.
 */
export async function countRecentRecipients(
  { sql }: Pick<Connection, 'sql'>,
  senderId: string,
): Promise<number> {
  const [{ recipients }] = await sql.query<[{ recipients: number }]>`
    select count(distinct s.recipient_key)::integer as recipients
    from senders o join senders r
      on block_subject('portfolio', r.id, r.business_account_id, r.portfolio_id) = block_subject('portfolio', o.id, o.business_account_id, o.portfolio_id)
    cross join lateral (
      select send_id from attempts
      where sender_id = r.id and outcome = 'accepted' and finished_at >= statement_timestamp() - interval '1 day'
      order by finished_at desc limit ${MESSAGES_MAX}
    ) a cross join lateral (select recipient_key from sends where id = a.send_id limit 1) s
    where o.id = ${senderId}::uuid`;
  return recipients;
}
