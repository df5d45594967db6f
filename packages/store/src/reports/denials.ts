import type { Locale, Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** How many of an application's sends were denied: the recipient reported that they did not request the code. By country. */
export interface DenialCount {
  applicationId: string;
  name: string;
  /** `NO_COUNTRY` for numbers without a country. */
  country: string;
  denials: number;
}

/** Which denials to count; an omitted field restricts nothing. */
export interface DenialQuestion {
  /** Inclusive; `to` is exclusive. */
  from: Date;
  to: Date;
  applicationId?: string;
  mode?: Mode;
  locale?: Locale;
}

/** Counts an account's sends that were denied in a period, most first. */
export async function countDenials(
  database: Database,
  accountId: string,
  { from, to, applicationId, mode, locale }: DenialQuestion,
): Promise<DenialCount[]> {
  return database.sql.query<DenialCount[]>`
    select a.id as "applicationId", a.name, s.country, count(*)::integer as denials
    from sends s join applications a on a.id = s.application_id
    where s.account_id = ${accountId}::uuid and s.denied_at >= ${from}::timestamptz and s.denied_at < ${to}::timestamptz
      and a.id = coalesce(${applicationId ?? null}::uuid, a.id) and s.mode = coalesce(${mode ?? null}::text, s.mode)
      and s.locale = coalesce(${locale ?? null}::text, s.locale)
    group by a.id, s.country order by denials desc, a.id, s.country`;
}
