import { judgedSends } from '../accounts/breaker.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** The maximum number of prefixes listed for a trip, and how many people must share a prefix, so that none identifies a number. */
const PREFIXES_MAX = 5;
const PREFIX_PEOPLE_MIN = 5;

/** A period in which the breaker blocked an account's sends to a country. */
export interface BreakerTrip {
  /** `NO_COUNTRY` for numbers without a country. */
  country: string;
  trippedAt: Date;
  openUntil: Date;
  isOpen: boolean;
  sends: number;
  unverified: number;
  /** While the breaker is open: the most frequent prefixes of the numbers of these sends, in descending order. */
  prefixes: { prefix: string; sends: number; verified: number }[];
}

/** Returns the latest trip of each country of an account, newest first. */
export async function listBreakerTrips(database: Database, accountId: string): Promise<BreakerTrip[]> {
  return database.sql.query<BreakerTrip[]>`
    select t.country, t.tripped_at as "trippedAt", t.open_until as "openUntil", t.open_until > statement_timestamp() as "isOpen",
      t.sends, t.unverified, p.prefixes
    from breaker_trips t cross join lateral (
      select coalesce(jsonb_agg(g order by g.sends desc, g.prefix), '[]') as prefixes from (
        select left(s.recipient, least(8, length(s.recipient) - 4)) as prefix, count(*)::integer as sends,
          (count(*) filter (where s.verification = 'verified'))::integer as verified
        from (${judgedSends(Prisma.sql`t.account_id`, Prisma.sql`t.tripped_at`)}) s
        -- Skips numbers that are already masked.
        where t.open_until > statement_timestamp() and s.country = t.country and s.recipient ~ '^[+][0-9]+$'
        group by 1 having count(distinct s.recipient_key) >= ${PREFIX_PEOPLE_MIN}::integer
        order by sends desc, prefix limit ${PREFIXES_MAX}::integer
      ) g
    ) p
    where t.account_id = ${accountId}::uuid
    order by t.tripped_at desc`;
}
