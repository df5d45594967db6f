import { startOf, subjectOf, type Finding } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { audited, type Actor } from './audit.js';

/** A problem: its latest health finding, with when it was first and last seen. */
export interface Incident {
  id: string;
  finding: Finding;
  /** When the finding was first seen, or when the block that it is about began. */
  beganAt: Date;
  /** When the finding was last seen: the end of an incident that is over. */
  seenAt: Date;
  /** Null until a staff member acknowledges it. */
  acknowledged: { at: Date; by: string; note: string | null } | null;
}

/** A finding that returns within this time continues its incident. */
const RETURN_MINUTES = 10;

/** SQL for whether an incident lasts. It ends when no process has seen its finding for a minute. */
export const LASTS = Prisma.sql`(i.seen_at > clock_timestamp() - interval '1 minute')`;

/** Records the current findings: each begins or continues an incident. */
export async function recordIncidents(database: Database, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  const found = findings.map((finding) => ({
    name: finding.name,
    subject: subjectOf(finding),
    start: startOf(finding),
    finding,
  }));
  await database.transaction(async ({ sql }) => {
    // Without the lock, two processes that see a new problem at the same time would record it twice.
    await sql.execute`select pg_advisory_xact_lock(hashtextextended('incidents', 0))`;
    await sql.execute`
      with found as (
        select name, subject, least(coalesce(start, clock_timestamp()), clock_timestamp()) as start, finding,
          finding ->> 'severity' = 'failing' as is_failing
        from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f (name text, subject text, start timestamptz, finding jsonb)
      ), continued as (
        update incidents i set seen_at = clock_timestamp(), finding = f.finding, began_at = least(i.began_at, f.start),
          failing_at = case
            when not f.is_failing then null
            when ${LASTS} then coalesce(i.failing_at, clock_timestamp())
            else clock_timestamp()
          end
        from found f
        where (i.name, i.subject) = (f.name, f.subject)
          and i.seen_at > clock_timestamp() - make_interval(mins => ${RETURN_MINUTES}::integer)
        returning i.name, i.subject
      )
      insert into incidents (name, subject, began_at, failing_at, finding)
      select name, subject, start, case when is_failing then clock_timestamp() end, finding from found
      where (name, subject) not in (select name, subject from continued)`;
  });
}

/** Returns the current incidents and those of the last day, latest first. */
export async function listIncidents({ sql }: Connection): Promise<Incident[]> {
  return sql.query<Incident[]>`
    select i.id, i.finding, i.began_at as "beganAt", i.seen_at as "seenAt",
      case when i.acknowledged_at is not null then json_build_object(
        'at', to_char(i.acknowledged_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'by', i.acknowledged_by, 'note', i.note
      ) end as acknowledged
    from incidents i
    where i.seen_at > clock_timestamp() - interval '1 day' order by i.began_at desc limit 100`;
}

/**
 * Records that a staff member takes care of an incident, with a note for colleagues. A later acknowledgement replaces it; the audit log
 * keeps both.
 *
 * @returns false if the incident does not exist
 */
export function acknowledgeIncident(
  database: Database,
  actor: Actor,
  id: string,
  note: string | null,
): Promise<boolean> {
  return audited(database, actor, async ({ sql }, log) => {
    const [incident] = await sql.query<{ name: string; subject: string; before: string | null }[]>`
      with before as (select id, note from incidents where id = ${id}::uuid for update)
      update incidents i set acknowledged_at = clock_timestamp(), acknowledged_by = ${actor.name}, note = ${note}
      from before b where i.id = b.id returning i.name, i.subject, b.note as before`;
    if (incident === undefined) return false;
    const { name, subject, before } = incident;
    await log({
      action: 'incident.acknowledge',
      subject: `${name} ${subject}`.trim(),
      details: { before: { note: before }, after: { note } },
    });
    return true;
  });
}

export async function deleteOldIncidents({ sql }: Connection): Promise<void> {
  await sql.execute`delete from incidents where seen_at < clock_timestamp() - interval '1 day'`;
}
