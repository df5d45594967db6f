import type { FindingName } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** A shorter problem would be over before anyone reads the mail. */
const LASTS_MINUTES = 5;
/** A finding that reappears within this time is not mailed again. */
const QUIET_HOURS = 6;

/** Mails the staff each finding that has been failing for at least five minutes. */
export async function queueFindingAlerts(database: Database): Promise<void> {
  const failing = await database.sql.query<{ name: FindingName; subject: string; at: string }[]>`
    select name, subject, extract(epoch from failing_at)::text as at from incidents
    where seen_at > clock_timestamp() - interval '1 minute'
      and failing_at <= clock_timestamp() - make_interval(mins => ${LASTS_MINUTES}::integer)`;
  for (const { name, subject, at } of failing) {
    const of = `finding ${name} ${subject} `;
    const mail = { kind: 'finding', event: of + at, facts: { name, subject } } as const;
    await writeMails(database, mail, 'staff', { subject: of, hours: QUIET_HOURS });
  }
}
