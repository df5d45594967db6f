import { schemaFault, type RunningProcess } from '@onecode/domain';
import { newId } from '../client/ids.js';
import type { Connection, Database } from '../client/database.js';
import { findDatabaseFault } from '../client/settings.js';
import { readSqlState, UnusableDatabase } from '../client/errors.js';
import { SILENT_SECONDS } from '../migrations/contracts.js';
import { readMigrations } from '../migrations/migrations.js';

/** The loops of a worker that the health page watches. */
export type LoopName = 'deliver' | 'sweep' | 'breaker' | 'clean_up';

/** When a worker started each loop or last completed a run of it, by `performance.now()`. */
export type LastRuns = Partial<Record<LoopName, number>>;

/**
 * Creates the presence of this process: its row with its release, and the difference between its clock and the database's.
 *
 * @param release of this process, X.Y.Z or with its commit X.Y.Z+COMMIT
 * @param lastRuns of a worker's loops, which each report reads
 * @throws UnusableDatabase if this release cannot work with the database. If the database is unavailable, the first report checks it
 */
export async function createPresence(
  database: Database,
  { kind, release, lastRuns = {} }: { kind: RunningProcess['kind']; release: string; lastRuns?: LastRuns },
) {
  const { sql } = database;
  const id = newId();
  let lastMigration: string | undefined;
  let clockAheadMs = 0;

  /** Prepares the reports. @returns why this release cannot work with the database, or null */
  const check = async (): Promise<string | null> => {
    const fault = (await findDatabaseFault(database)) ?? (await findSchemaFault(database, release));
    if (fault !== null) return fault;
    clockAheadMs = await readClock(database);
    lastMigration = (await readMigrations()).at(-1)?.name ?? '';
    return null;
  };
  const fault = await check().catch(() => null);
  if (fault !== null) throw new UnusableDatabase(fault);

  return {
    /** New for each start of a process. */
    id,
    /** Reports that the process runs, and its loops. @returns why it cannot run, or null */
    async report(): Promise<string | null> {
      const fault = lastMigration === undefined ? await check() : null;
      if (fault !== null) return fault;
      const now = performance.now();
      const secondsAgo = Object.entries(lastRuns).map(([loop, at]) => [loop, (now - at) / 1_000]);
      const sentAt = Date.now();
      const [{ ms }] = await sql.query<[{ ms: number }]>`
        insert into processes (id, kind, release, last_migration, clock_ahead_ms, deliver_at, sweep_at, breaker_at, clean_up_at)
        select ${id}::uuid, ${kind}::text, ${release}::text, ${lastMigration}::text, ${clockAheadMs}::float8,
          clock_timestamp() - make_interval(secs => ago.deliver), clock_timestamp() - make_interval(secs => ago.sweep),
          clock_timestamp() - make_interval(secs => ago.breaker), clock_timestamp() - make_interval(secs => ago.clean_up)
        from jsonb_to_record(${JSON.stringify(Object.fromEntries(secondsAgo))}::jsonb)
          as ago (deliver float8, sweep float8, breaker float8, clean_up float8)
        on conflict (id) do update set seen_at = clock_timestamp(), clock_ahead_ms = excluded.clock_ahead_ms,
          deliver_at = excluded.deliver_at, sweep_at = excluded.sweep_at, breaker_at = excluded.breaker_at, clean_up_at = excluded.clean_up_at
        returning extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
      // The next report stores it, so that a report needs only one statement.
      clockAheadMs = clockAhead(sentAt, ms);
      return null;
    },
    async end(): Promise<void> {
      await sql.execute`update processes set stopped_at = clock_timestamp() where id = ${id}::uuid`;
    },
  };
}

/** Returns by how many milliseconds this machine's clock is certainly ahead of the database's (negative if it is behind). */
export async function readClock({ sql }: Database): Promise<number> {
  const sentAt = Date.now();
  const [{ ms }] = await sql.query<[{ ms: number }]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  return clockAhead(sentAt, ms);
}

/** Returns the result of `readClock` right after the response. @param sentAt when the statement was sent that returned the time `ms` */
function clockAhead(sentAt: number, ms: number): number {
  // `Date.now()` is truncated to whole milliseconds.
  const receivedAt = Date.now() + 1;
  if (ms < sentAt) return sentAt - ms;
  return ms > receivedAt ? receivedAt - ms : 0;
}

/** Returns in one sentence why this release, with the migrations in its folder, cannot work with the database's schema; null if it can. */
export async function findSchemaFault(database: Database, release: string): Promise<string | null> {
  const migrations = (await readMigrations()).map(({ name }) => name);
  return schemaFault({ version: release, migrations }, await readApplied(database));
}

/** Returns the names of the applied migrations, in order; none for a database that was never migrated. */
async function readApplied({ sql }: Database): Promise<string[]> {
  try {
    const applied = await sql.query<{ name: string }[]>`
      select migration_name as name from _prisma_migrations
      where finished_at is not null and rolled_back_at is null order by migration_name`;
    return applied.map(({ name }) => name);
  } catch (error) {
    if (readSqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

/** A process that runs, or ran within the last hour. */
export interface ProcessSummary extends RunningProcess {
  id: string;
  startedAt: Date;
  seenAt: Date;
  state: 'running' | 'stopped' | 'silent';
  /** The milliseconds by which its clock was ahead of the database's when it was last seen. */
  clockAheadMs: number;
}

/** Returns the processes of the last hour, running ones first, then newest first. `silent` ones were killed or cannot reach PostgreSQL. */
export function listProcesses(database: Database): Promise<ProcessSummary[]> {
  return database.sql.query<ProcessSummary[]>`
    select id, kind, release, last_migration as "lastMigration", started_at as "startedAt", seen_at as "seenAt", case
        when stopped_at is not null then 'stopped'
        when seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) then 'running'
        else 'silent' end as state, clock_ahead_ms as "clockAheadMs"
    from processes where seen_at > clock_timestamp() - interval '1 hour' order by state, kind, started_at desc, id`;
}

/** A worker that was silent for this long is not counted: workers report every five seconds. */
const WORKER_SILENT_SECONDS = 25;

/** Counts the running workers. A worker that stopped is excluded immediately, and a killed worker after 25 seconds. */
export async function countWorkers({ sql }: Database): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(*)::integer as count from processes
    where kind = 'worker' and stopped_at is null and seen_at > clock_timestamp() - make_interval(secs => ${WORKER_SILENT_SECONDS})`;
  return row.count;
}

/** When a worker started a loop or last completed a run of it. */
export interface Heartbeat {
  loop: LoopName;
  workerId: string;
  /** Seconds since then, by the database's clock. */
  secondsAgo: number;
}

/** Returns the last run of each loop of each worker within the last hour, newest first. */
export async function listHeartbeats({ sql }: Connection): Promise<Heartbeat[]> {
  return sql.query<Heartbeat[]>`
    select loop, id as "workerId", extract(epoch from clock_timestamp() - ran_at)::float8 as "secondsAgo"
    from processes, lateral (
      values ('deliver', deliver_at), ('sweep', sweep_at), ('breaker', breaker_at), ('clean_up', clean_up_at)
    ) as l (loop, ran_at)
    where ran_at > statement_timestamp() - interval '1 hour' order by ran_at desc`;
}

/** Marks processes that have not been seen since `time` as stopped, because the processes in a restored database do not run. */
export async function endProcessesSeenBefore({ sql }: Connection, time: Date): Promise<void> {
  await sql.execute`update processes set stopped_at = seen_at where stopped_at is null and seen_at < ${time}`;
}

/** Deletes processes that were last seen more than an hour ago, except the last one of each release, which contracting migrations check. */
export async function deleteOldProcesses(database: Database): Promise<void> {
  await database.sql.execute`
    delete from processes p where seen_at < clock_timestamp() - interval '1 hour'
      and exists (select from processes later where later.release = p.release and later.seen_at > p.seen_at)`;
}
