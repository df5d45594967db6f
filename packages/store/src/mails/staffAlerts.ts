import type { FindingName } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** What lasts shorter is over before anybody reads of it. */
const LASTS_MINUTES = 5;
/** A finding that comes and goes is told once within so many hours. */
const QUIET_HOURS = 6;

/** Tells the staff of each finding that has been failing for five minutes, and still is. */
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
