import type { Connection } from '../client/database.js';

/** What trial accounts used up together of the live sends that they share a day. */
export interface TrialSends {
  /** Today (UTC), as `2026-11-23`. */
  day: string;
  sends: number;
  /** The setting. */
  perDay: number;
}

/** What trial accounts sent today, and may send. */
export async function readTrialSends(database: Connection): Promise<TrialSends> {
  const [row] = await database.$queryRaw<[TrialSends]>`
    select today.day::text, coalesce(t.sends, 0) as sends, s.trial_sends_per_day as "perDay"
    from settings s, (select (clock_timestamp() at time zone 'UTC')::date as day) today
    left join trial_sends t on t.day = today.day`;
  return row;
}
