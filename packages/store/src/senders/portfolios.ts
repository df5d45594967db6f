import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** The step that returns each sender's business portfolio; where it is unknown, the business account, or the sender itself. */
export const PORTFOLIOS = Prisma.sql`
  portfolios as (
    select s.id, coalesce(n.facts->'portfolioId'->>'value', s.business_account_id, s.id::text) as portfolio
    from senders s left join provider_facts n on n.subject = s.id::text and n.template = ''
  )`;

/** Returns the subjects of the blocks of all business accounts in a sender's portfolio. See `blockSubject`. */
export async function listPortfolioAccounts({ sql }: Database, senderId: string): Promise<string[]> {
  const rows = await sql.query<{ subject: string }[]>`
    with ${PORTFOLIOS}
    select distinct block_subject('business', r.id, r.business_account_id) as subject
    from senders r join portfolios p using (id)
    where r.removed_at is null and p.portfolio = (select portfolio from portfolios where id = ${senderId}::uuid)
    order by subject`;
  return rows.map(({ subject }) => subject);
}
