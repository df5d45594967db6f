import { subjectOf, type Finding } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';

/** A problem: its latest health finding, with when it was first and last seen. */
export interface Incident {
  finding: Finding;
  beganAt: Date;
  seenAt: Date;
}

/** Records the current findings. An incident that was seen within the last minute continues; one that is no longer recorded ends. */
export async function recordIncidents(database: Database, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  const found = findings.map((finding) => ({ name: finding.name, subject: subjectOf(finding), finding }));
  await database.transaction(async ({ sql }) => {
    // Without the lock, two processes that see a problem start at the same time would record it twice.
    await sql.execute`select pg_advisory_xact_lock(hashtextextended('incidents', 0))`;
    await sql.execute`
      with found as (
        select * from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f (name text, subject text, finding jsonb)
      ), going_on as (
        update incidents i set seen_at = clock_timestamp(), finding = f.finding,
          failing_at = case when f.finding ->> 'severity' = 'failing' then coalesce(i.failing_at, clock_timestamp()) end
        from found f
        where (i.name, i.subject) = (f.name, f.subject) and i.seen_at > clock_timestamp() - interval '1 minute'
        returning i.name, i.subject
      )
      insert into incidents (name, subject, failing_at, finding)
      select name, subject, case when finding ->> 'severity' = 'failing' then clock_timestamp() end, finding from found
      where (name, subject) not in (select name, subject from going_on)`;
  });
}

/** Returns the current incidents and those of the last day, latest first. */
export async function listIncidents({ sql }: Connection): Promise<Incident[]> {
  return sql.query<Incident[]>`
    select finding, began_at as "beganAt", seen_at as "seenAt" from incidents
    where seen_at > clock_timestamp() - interval '1 day' order by began_at desc limit 100`;
}

export async function deleteOldIncidents({ sql }: Connection): Promise<void> {
  await sql.execute`delete from incidents where seen_at < clock_timestamp() - interval '1 day'`;
}
