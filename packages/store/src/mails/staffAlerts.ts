import type { Finding } from '@onecode/domain';
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
  and i.failing_at <= i.seen_at - make_interval(mins => ${LASTS_MINUTES}::integer))`;

interface FailingIncident {
  id: string;
  finding: Finding;
  subject: string;
  /** The number of the sender that the finding is about. */
  sender: string | null;
  beganAt: Date;
  acknowledgedBy: string | null;
  note: string | null;
}

/** Mails the staff about each current incident that has been failing for at least five minutes. */
export async function queueFindingAlerts(database: Database): Promise<void> {
  const failing = await database.sql.query<FailingIncident[]>`
    select i.id, i.finding, i.subject, s.number as sender, i.began_at as "beganAt", i.acknowledged_by as "acknowledgedBy", i.note
    from incidents i left join senders s on s.id::text = i.finding #>> '{failures,senderId}'
    where ${FAILS_FOR_LONG}`;
  for (const { id, finding, subject, sender, beganAt, acknowledgedBy, note } of failing) {
    const { name, cause, failures, template, blocks } = finding;
    const of = `finding ${name} ${subject} `;
    const facts = {
      incidentId: id,
      name,
      cause,
      country: failures?.country ?? null,
      sender,
      template: template === undefined ? null : `${template.template} (${template.language})`,
      errorCode: cause === 'refused' ? (blocks?.[0]?.errorCode ?? null) : null,
      since: beganAt.toISOString(),
      acknowledgedBy,
      note,
    };
    const mail = { kind: 'finding', event: of + id, facts } as const;
    await writeMails(database, mail, 'staff', { subject: of, hours: QUIET_HOURS });
  }
}
