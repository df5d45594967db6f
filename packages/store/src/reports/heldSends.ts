import type { Connection } from '../client/database.js';
import type { Hold } from '../holds/index.js';

/** Returns the holds that match a live send which is not finished, oldest first. Test sends are never held. */
export async function listHoldsOf({ sql }: Connection, sendId: string): Promise<Hold[]> {
  return sql.query<Hold[]>`
    select h.kind, h.target, h.reason, h.since, h.set_by as "setBy"
    from sends s join holds h on is_held(array[h.kind || ' ' || h.target], s.account_id, s.country)
    where s.id = ${sendId}::uuid and s.mode = 'live' and s.due_at is not null order by h.since`;
}

/** The active holds, and the number of live sends that wait for a sender or the end of a hold. */
export interface HeldSends {
  /** Oldest first. `accountName`: the name of the held account, or null; `waiting`: how many of the waiting sends the hold matches. */
  holds: (Hold & { accountName: string | null; waiting: number })[];
  waiting: number;
}

/** Returns the active holds, and counts the waiting sends. */
export async function readHeldSends({ sql }: Connection): Promise<HeldSends> {
  const [{ waiting }] = await sql.query<[{ waiting: number }]>`
    select count(*)::integer as waiting from sends where is_waiting`;
  const holds = await sql.query<HeldSends['holds']>`
    with waiting as materialized (select account_id, country, count(*) as sends from sends where is_waiting group by account_id, country)
    select h.kind, h.target, h.reason, h.since, h.set_by as "setBy", a.name as "accountName", (
      select coalesce(sum(sends), 0)::integer from waiting w where is_held(array[h.kind || ' ' || h.target], w.account_id, w.country)
    ) as waiting
    from holds h left join accounts a on a.id = case h.kind when 'account' then h.target::uuid end order by h.since`;
  return { holds, waiting };
}
