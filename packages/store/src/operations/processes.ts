import { schemaFault, type RunningProcess } from '@onecode/domain';
import { newId } from '../client/ids.js';
import type { Connection, Database } from '../client/database.js';
import { findRightsFault } from '../client/rights.js';
import { readSqlState } from '../client/errors.js';
import { SILENT_SECONDS } from '../migrations/contracts.js';
import { readMigrations } from '../migrations/migrations.js';
import { readClock } from './clock.js';

/** Reports that a process runs, with its release and the difference between its clock and the database's. */
export interface Presence {
  /** New for each start of a process. */
  readonly id: string;
  /** Checks whether this release can work with the schema. @returns why it cannot, or null */
  check(): Promise<string | null>;
  /** Reports that the process runs. The first call runs `check` first. @returns why it cannot run, or null */
  report(): Promise<string | null>;
  end(): Promise<void>;
}

/** Creates the presence of this process. @param release of this process, X.Y.Z or with its commit X.Y.Z+COMMIT */
export function createPresence(
  database: Database,
  { kind, release }: { kind: RunningProcess['kind']; release: string },
): Presence {
  const id = newId();
  let last: string | undefined;

  const check = async (): Promise<string | null> =>
    (await findRightsFault(database)) ?? (await findSchemaFault(database, release));

  async function begin(): Promise<string | null> {
    const fault = await check();
    if (fault !== null) return fault;
    last = (await readMigrations()).at(-1)?.name ?? '';
    return null;
  }

  return {
    id,
    check,
    async report() {
      const fault = last === undefined ? await begin() : null;
      if (fault !== null || last === undefined) return fault;
      const clockAheadMs = await readClock(database);
      await database.sql.execute`
        insert into processes (id, kind, release, last_migration, clock_ahead_ms)
        values (${id}::uuid, ${kind}, ${release}, ${last}, ${clockAheadMs})
        on conflict (id) do update set seen_at = clock_timestamp(), clock_ahead_ms = excluded.clock_ahead_ms`;
      return null;
    },
    async end() {
      await database.sql.execute`update processes set stopped_at = clock_timestamp() where id = ${id}::uuid`;
    },
  };
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

/** A worker that was silent for this long is not counted: workers report every ten seconds. */
const WORKER_SILENT_SECONDS = 25;

/** Counts the running workers. A worker that stopped is excluded immediately, and a killed worker after 25 seconds. */
export async function countWorkers({ sql }: Database): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(*)::integer as count from processes
    where kind = 'worker' and stopped_at is null and seen_at > clock_timestamp() - make_interval(secs => ${WORKER_SILENT_SECONDS})`;
  return row.count;
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
