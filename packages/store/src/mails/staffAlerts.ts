import type { FindingName } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { LASTS } from '../operations/incidents.js';
import { writeMails } from './writeMails.js';

/** A shorter problem would be over before anyone reads the mail. */
const LASTS_MINUTES = 5;
/** A finding that reappears within this time is not mailed again. */
const QUIET_HOURS = 6;

/** SQL for whether an incident is worth a mail. It is checked again before the mail is sent, which may be hours later. */
export const FAILS_FOR_LONG = Prisma.sql`(${LASTS}
  and i.failing_at <= clock_timestamp() - make_interval(mins => ${LASTS_MINUTES}::integer))`;

interface FailingIncident {
  id: string;
  name: FindingName;
  subject: string;
  beganAt: Date;
  acknowledgedBy: string | null;
  note: string | null;
}

/** Mails the staff about each current incident that has been failing for at least five minutes. */
export async function queueFindingAlerts(database: Database): Promise<void> {
  const failing = await database.sql.query<FailingIncident[]>`
    select i.id, i.name, i.subject, i.began_at as "beganAt", i.acknowledged_by as "acknowledgedBy", i.note from incidents i
    where ${FAILS_FOR_LONG}`;
  for (const { id, name, subject, beganAt, acknowledgedBy, note } of failing) {
    const of = `finding ${name} ${subject} `;
    const facts = { incidentId: id, name, subject, since: beganAt.toISOString(), acknowledgedBy, note };
    const mail = { kind: 'finding', event: of + id, facts } as const;
    await writeMails(database, mail, 'staff', { subject: of, hours: QUIET_HOURS });
  }
}
