import type { BreakerRule } from '@onecode/domain';
import type { Connection } from './database.js';
import { EXHAUSTED_RECIPIENTS } from './guessExcess.js';

/** What stands between an account and its abuse, as operators see it. */
export interface AbuseControls {
  /** ISO 3166 codes; null is every country, and numbers of none. */
  allowedCountries: string[] | null;
  /** Null is off. */
  breaker: BreakerRule | null;
  /** Countries that the breaker keeps the account from for now (`ZZ`: numbers of no country), and when the last of them ends. */
  stoppedCountries: string[];
  stoppedUntil: Date | null;
  /** Recipients that have used up their guess budget. */
  refusedRecipients: number;
}

interface DefencesRow {
  allowed_countries: string[] | null;
  breaker_unverified_percent: number | null;
  breaker_min_sends: number | null;
  stopped_countries: string[];
  stopped_until: Date | null;
  refused_recipients: number;
}

/** An account's defences, or null when there is no such account. */
export async function findAbuseControls(database: Connection, accountId: string): Promise<AbuseControls | null> {
  const [row] = await database.$queryRaw<DefencesRow[]>`
    select a.allowed_countries, a.breaker_unverified_percent, a.breaker_min_sends,
      t.countries as stopped_countries, t.until as stopped_until, ${EXHAUSTED_RECIPIENTS} as refused_recipients
    from accounts a, lateral (
      select coalesce(array_agg(country order by country), '{}') as countries, max(open_until) as until
      from breaker_trips
      where account_id = a.id and a.breaker_unverified_percent is not null and open_until > clock_timestamp()
    ) t
    where a.id = ${accountId}::uuid`;
  if (row === undefined) return null;
  const { breaker_unverified_percent: unverifiedPercent, breaker_min_sends: minSends } = row;
  return {
    allowedCountries: row.allowed_countries,
    breaker: unverifiedPercent === null || minSends === null ? null : { unverifiedPercent, minSends },
    stoppedCountries: row.stopped_countries,
    stoppedUntil: row.stopped_until,
    refusedRecipients: row.refused_recipients,
  };
}
