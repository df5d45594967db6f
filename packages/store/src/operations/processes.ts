import { schemaFault, type RunningProcess } from '@onecode/domain';
import { newId } from '../client/ids.js';
import type { Connection, Database } from '../client/database.js';
import { findRightsFault } from '../client/rights.js';
import { readSqlState } from '../client/errors.js';
import { SILENT_SECONDS } from '../migrations/contracts.js';
import { readMigrations } from '../migrations/migrations.js';
import { readClock } from './clock.js';

/** How a process tells that it runs, of which release it is, and how far its clock is from the database's. */
export interface Presence {
  /** New for each process that starts. */
  readonly id: string;
  /** Looks whether this release can work with the schema, and may. @returns why it cannot, or null */
  check(): Promise<string | null>;
  /** Tells that the process runs. The first time, it checks before. @returns why it cannot, or null */
  report(): Promise<string | null>;
  end(): Promise<void>;
}

/** @param release of this process, X.Y.Z or with its commit X.Y.Z+COMMIT */
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

/** Why a release, whose migrations are in this folder, cannot work with the database's schema, in a sentence; null when it can. */
export async function findSchemaFault(database: Database, release: string): Promise<string | null> {
  const migrations = (await readMigrations()).map(({ name }) => name);
  return schemaFault({ version: release, migrations }, await readApplied(database));
}

/** The names of the applied migrations, in their order; none in a database that was never migrated. */
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

/** A process that runs, or did within the last hour. */
export interface ProcessSummary extends RunningProcess {
  id: string;
  startedAt: Date;
  seenAt: Date;
  state: 'running' | 'stopped' | 'silent';
  /** How far its clock was ahead of the database's when it was seen. */
  clockAheadMs: number;
}

/** The processes of the last hour, those that run first, then the newest first. `silent` ones were killed or cannot reach PostgreSQL. */
export function listProcesses(database: Database): Promise<ProcessSummary[]> {
  return database.sql.query<ProcessSummary[]>`
    select id, kind, release, last_migration as "lastMigration", started_at as "startedAt", seen_at as "seenAt", case
        when stopped_at is not null then 'stopped'
        when seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) then 'running'
        else 'silent' end as state, clock_ahead_ms as "clockAheadMs"
    from processes where seen_at > clock_timestamp() - interval '1 hour' order by state, kind, started_at desc, id`;
}

/** After this long without a word a worker counts no more: it tells of itself every ten seconds. */
const WORKER_SILENT_SECONDS = 25;

/** How many workers run. One that stopped counts no more at once, and one that was killed after 25 seconds. */
export async function countWorkers({ sql }: Database): Promise<number> {
  const [row] = await sql.query<[{ count: number }]>`
    select count(*)::integer as count from processes
    where kind = 'worker' and stopped_at is null and seen_at > clock_timestamp() - make_interval(secs => ${WORKER_SILENT_SECONDS})`;
  return row.count;
}

/** Marks the processes as stopped that nobody has seen since: those of a database that was restored do not run. */
export async function endProcessesSeenBefore({ sql }: Connection, time: Date): Promise<void> {
  await sql.execute`update processes set stopped_at = seen_at where stopped_at is null and seen_at < ${time}`;
}

/** Deletes the processes that were last seen more than an hour ago, but of each release the last one: contracting migrations ask for it. */
export async function deleteOldProcesses(database: Database): Promise<void> {
  await database.sql.execute`
    delete from processes p where seen_at < clock_timestamp() - interval '1 hour'
      and exists (select from processes later where later.release = p.release and later.seen_at > p.seen_at)`;
}
