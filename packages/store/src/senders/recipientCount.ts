import type { Connection } from '../client/database.js';
import { firstIdAt } from '../client/ids.js';

const DAY_MS = 86_400_000;
/** A code lives 90 minutes at most, so no send that was created earlier went out within the day. */
const SEND_LIFE_MS_MAX = 5_400_000;

/** How many people were written to in 24 hours by all senders of this one's business portfolio, or else of its business account. */
export async function countRecipients({ sql }: Connection, senderId: string): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    with portfolios as (
      select s.id, coalesce(n.facts->'portfolioId'->>'value', s.business_account_id, s.id::text) as portfolio
      from senders s left join provider_facts n on n.subject = s.id::text and n.template = ''
    )
    select count(distinct recipient_key)::integer as count from sends
    where id >= ${firstIdAt(new Date(Date.now() - DAY_MS - SEND_LIFE_MS_MAX))}::uuid and sent_at >= clock_timestamp() - interval '1 day'
      and sender_id = any(array(
        select id from portfolios where portfolio = (select portfolio from portfolios where id = ${senderId}::uuid)
      ))`;
  return row.count;
}
