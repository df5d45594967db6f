import type { Locale, Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** How often recipients reported that they did not request a code of an application, by country. */
export interface DenialCount {
  applicationId: string;
  name: string;
  /** ISO 3166; null for numbers without a country. */
  country: string | null;
  denials: number;
}

/** Which denials to count; an omitted field restricts nothing. */
export interface DenialQuestion {
  /** Inclusive; `to` is exclusive. */
  from: Date;
  to: Date;
  applicationId?: string;
  mode?: Mode;
  /** Counts only denials of sends that are still stored, because the sends have the language. */
  locale?: Locale;
}

/** Counts an account's denials received in a period, most first. */
export async function countDenials(
  database: Database,
  accountId: string,
  { from, to, applicationId, mode, locale }: DenialQuestion,
): Promise<DenialCount[]> {
  return database.sql.query<DenialCount[]>`
    select a.id as "applicationId", a.name, d.country, count(*)::integer as denials
    from denials d join applications a on a.id = d.application_id
    where d.account_id = ${accountId}::uuid and d.received_at >= ${from}::timestamptz and d.received_at < ${to}::timestamptz
      and a.id = coalesce(${applicationId ?? null}::uuid, a.id) and a.mode = coalesce(${mode ?? null}::text, a.mode)
      and (${locale ?? null}::text is null or exists (select from sends where id = d.send_id and locale = ${locale ?? null}::text))
    group by a.id, d.country order by denials desc, a.id, d.country`;
}
