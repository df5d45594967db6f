import type { BreakerRule } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { EXHAUSTED_RECIPIENTS } from '../sends/guessBudgets.js';

/** The minimum and maximum of a ceiling. */
export const CEILING_BOUNDS = { min: 0, max: 1_000_000_000 } as const;

/** The abuse limits of an account, which its admins and operators see and set. */
export interface AbuseControls {
  /** The most units that its sends may use per day and per month in UTC, each null without a ceiling. */
  unitsPerDay: number | null;
  unitsPerMonth: number | null;
  /** ISO 3166 codes; null allows every country, and numbers without a country. */
  allowedCountries: string[] | null;
  /** Whether it may send to satellite and premium-rate numbers. */
  allowsPremiumRate: boolean;
  /** The units that its sends used today and this month (UTC), including refunded ones. */
  unitsToday: number;
  unitsThisMonth: number;
  /** Null if it is off. */
  breaker: BreakerRule | null;
  /** Countries that the fraud breaker blocks now (`NO_COUNTRY` for numbers without a country), and when the last of these blocks ends. */
  blockedCountries: string[];
  blockedUntil: Date | null;
  /** The number of recipients with no guess budget left. */
  refusedRecipients: number;
}

/** Returns an account's abuse controls, or null if the account does not exist. */
export async function findAbuseControls(
  database: Connection,
  accountId: string,
): Promise<AbuseControls | null> {
  const [controls] = await database.sql.query<AbuseControls[]>`
    select a.allowed_countries as "allowedCountries", a.allows_premium_rate as "allowsPremiumRate", a.units_per_day as "unitsPerDay",
      a.units_per_month as "unitsPerMonth", case when a.units_on = n.today then a.units_of_day else 0 end as "unitsToday",
      case when date_trunc('month', a.units_on::timestamp) = date_trunc('month', n.today::timestamp) then a.units_of_month else 0
      end as "unitsThisMonth", case when a.breaker_unverified_percent is not null then
        jsonb_build_object('unverifiedPercent', a.breaker_unverified_percent, 'minSends', a.breaker_min_sends)
      end as breaker, t.countries as "blockedCountries", t.until as "blockedUntil", ${EXHAUSTED_RECIPIENTS} as "refusedRecipients"
    from accounts a, (select (clock_timestamp() at time zone 'UTC')::date as today) n, lateral (
      select coalesce(array_agg(country order by country), '{}') as countries, max(open_until) as until
      from breaker_trips
      where account_id = a.id and a.breaker_unverified_percent is not null and open_until > clock_timestamp()
    ) t
    where a.id = ${accountId}::uuid`;
  return controls ?? null;
}
