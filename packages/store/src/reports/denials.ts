import type { Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** How often people said that they did not request a code of an application, by country. */
export interface DenialCount {
  applicationId: string;
  name: string;
  /** ISO 3166; null for numbers of no country. */
  country: string | null;
  denials: number;
}

/** The denials to count: of all applications, unless one or a mode is named. */
export interface DenialQuestion {
  /** Inclusive; `to` is exclusive. */
  from: Date;
  to: Date;
  applicationId?: string;
  mode?: Mode;
}

/** Counts an account's denials that were received in a span, most first. */
export async function countDenials(
  database: Database,
  accountId: string,
  { from, to, applicationId, mode }: DenialQuestion,
): Promise<DenialCount[]> {
  return database.sql.query<DenialCount[]>`
    select a.id as "applicationId", a.name, d.country, count(*)::integer as denials
    from denials d join applications a on a.id = d.application_id
    where d.account_id = ${accountId}::uuid and d.received_at >= ${from}::timestamptz and d.received_at < ${to}::timestamptz
      and a.id = coalesce(${applicationId ?? null}::uuid, a.id) and a.mode = coalesce(${mode ?? null}::text, a.mode)
    group by a.id, d.country order by denials desc, a.id, d.country`;
}
