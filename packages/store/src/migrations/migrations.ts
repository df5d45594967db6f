import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseContract } from '@onecode/domain';
import type pg from 'pg';
import { UnusableDatabase } from '../client/errors.js';
import { openPool } from '../client/servers.js';
import {
  findSettingsFault,
  FIXED_SETTINGS,
  POOLED_SETTINGS,
  UNBOUNDED_SETTINGS,
  type Settings,
} from '../client/settings.js';
import { ContractRefused, findContractFaults } from './contracts.js';

const FOLDER = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
/** The key of the advisory lock that serializes concurrent migrations. Any fixed number works. */
const LOCK = 7_165_201;
const LOCK_PAUSE_MS = 100;
/** An index on a large table may take minutes. */
const LOCK_MS_MAX = 600_000;
/** How often a waiting migration logs what it waits for. */
const REPORT_MS = 10_000;
const CONNECT_MS_MAX = 10_000;
/**
 * The longest wait of a migration for a table. While it waits, all later statements on the table wait too. The time is also below
 * PostgreSQL's `deadlock_timeout` of one second: if a statement of the service and the migration wait for each other's tables, the
 * migration rolls back and the statement continues, instead of failing with a deadlock.
 */
const TABLE_LOCK_MS_MAX = 400;
const TABLE_LOCK_TRIES_MAX = 10;
const TABLE_LOCK_PAUSE_MS = 250;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
/** A migration that contains only this statement and comments builds its index without blocking writes. */
const CONCURRENT_INDEX = /^(?:--.*\n|\s)*create (?:unique )?index concurrently (\w+) [^;]*;\s*$/;

/** Prisma's table of applied migrations, so that `prisma migrate deploy` can be used at any time. */
const JOURNAL = `
  create table if not exists _prisma_migrations (
    id varchar(36) primary key,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;

/** One folder of `prisma/migrations`. */
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Returns the name of the index that this migration builds concurrently, outside a transaction; null for all other migrations. */
export function concurrentIndex(sql: string): string | null {
  return CONCURRENT_INDEX.exec(sql)?.[1] ?? null;
}

/** Reads the migrations of a folder in the order in which they are applied, each with the SHA-256 of its SQL in hex. */
export async function readMigrations(folder: string = FOLDER): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(`${folder}/${name}/migration.sql`, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

interface MigrateOptions {
  /** Called with a sentence about what the migration waits for, immediately and then every ten seconds. */
  log?: (line: string) => void;
  /** Milliseconds to wait for another migration; default ten minutes. */
  waitMsMax?: number;
  /** Applies contracting migrations even if something still needs the removed parts; `log` gets what they break. */
  force?: boolean;
}

/** Time-outs are off: a role's defaults are meant for the service, and a migration may take longer. */
const SETTINGS: Settings = {
  ...POOLED_SETTINGS,
  ...FIXED_SETTINGS,
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  ...UNBOUNDED_SETTINGS,
};

/** The wait for another migration took too long. */
export class MigrationBlocked extends Error {}

export { ContractRefused } from './contracts.js';

/** This release cannot continue from the migrations in the database. */
export class MigrationMismatch extends Error {}

/**
 * Migrates a database to the newest schema: applies each folder of `prisma/migrations` once, in the order of their names, each in a
 * transaction. Applied migrations are skipped, and concurrent calls wait for each other. A migration that cannot lock a table within 400
 * ms, for example during a backup, rolls back instead of blocking the service, and fails after ten attempts; it can be run again later. A
 * migration that builds an index concurrently waits for backups without blocking anything.
 *
 * @param url leads to PostgreSQL itself, not to a pooler
 * @returns the names of the migrations applied by this call
 * @throws MigrationMismatch if an applied migration differs from the one in the folder, or the database is older than the first one;
 * ContractRefused if a contracting migration would break a running process, or skips a release that never ran; UnusableDatabase if the
 * server accepts no writes, or the database has other settings; MigrationBlocked if another migration took too long
 */
export async function migrate(
  url: string,
  folder: string = FOLDER,
  { log = () => {}, waitMsMax = LOCK_MS_MAX, force = false }: MigrateOptions = {},
): Promise<string[]> {
  const pool = openPool(url, SETTINGS, { connectionTimeoutMillis: CONNECT_MS_MAX, keepAlive: true });
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    // PostgreSQL before 17 does not know this setting, and would reject a connection that requests it.
    await client.query(
      `select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`,
    );
    return client;
  };
  const close = async (client: pg.PoolClient): Promise<void> => {
    const closed = once(pool, 'remove');
    client.release(true);
    await closed;
  };
  const lock = await connect();
  let lost: Error | undefined;
  lock.on('error', (error) => (lost = error));
  const client = await connect();
  try {
    const fault = await findSettingsFault(client);
    if (fault !== null) throw new UnusableDatabase(fault);
    await takeLock(lock, log, waitMsMax);
    await refuseClosedSchema(client);
    await client.query(JOURNAL);
    const migrations = await readMigrations(folder);
    const applied = await readJournal(client);
    refuseMismatch(applied, migrations);
    const pending = migrations.filter(({ name }) => !applied.has(name));
    // A new database has no processes that could break.
    if (applied.size > 0) {
      const contracts = pending.flatMap(({ name }) => parseContract(name) ?? []);
      const faults = await findContractFaults(client, contracts);
      if (faults.length > 0 && !force) throw new ContractRefused(faults);
      for (const fault of faults) log(`Forced: ${fault}.`);
    }
    for (const migration of pending) {
      if (lost !== undefined) throw lost;
      await apply(client, migration);
    }
    return pending.map(({ name }) => name);
  } finally {
    await close(client);
    // Ending the transaction releases the lock, even behind a pooler.
    await lock.query('rollback').catch(() => {});
    await close(lock);
  }
}

/**
 * Takes the lock in a transaction that stays open, because behind a pooler a session may outlive its connection. That transaction never
 * reads a table, so a concurrent index build does not wait for it. Each attempt is a transaction of its own, because a concurrent index
 * build would also wait for a transaction that waits for the lock.
 */
async function takeLock(
  client: pg.ClientBase,
  log: (line: string) => void,
  waitMsMax: number,
): Promise<void> {
  const startedAt = performance.now();
  let reports = 0;
  for (;;) {
    await client.query('begin');
    // The statement has no parameter, because PostgreSQL would keep the snapshot of a statement with one.
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_xact_lock(${LOCK}) as taken`,
    );
    if (rows[0]?.taken === true) return;
    await client.query('rollback');
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= waitMsMax)
      throw new MigrationBlocked(
        `after ${Math.round(waitMsMax / 1000)} seconds ${await lockHolder(client)} still holds the migrations’ lock; if it is not migrating, end it with pg_terminate_backend`,
      );
    if (waitedMs >= reports * REPORT_MS) {
      reports += 1;
      log(`Waiting for another migration: ${await lockHolder(client)} holds the migrations’ lock.`);
    }
    await setTimeout(LOCK_PAUSE_MS);
  }
}

/** Returns a description of the lock's holder. Another user's statement may be hidden. */
async function lockHolder(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ text: string }>(
    `select format('process %s of PostgreSQL%s, connected since %s,', l.pid, ' (client ' || a.client_addr || ')',
        to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')) as text
     from pg_locks l left join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = ${LOCK} and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())`,
  );
  return rows[0]?.text ?? 'another session';
}

/** Checks that the role can create tables in the schema of all tables. @throws UnusableDatabase */
async function refuseClosedSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string; mayCreate: boolean | null }>(
    `select quote_ident(current_user) as role, has_schema_privilege(to_regnamespace('public'), 'create') as "mayCreate"`,
  );
  const [{ role, mayCreate }] = rows as [(typeof rows)[number]];
  if (mayCreate === null)
    throw new UnusableDatabase(
      `the database has no schema public: create schema public authorization ${role}`,
    );
  if (!mayCreate)
    throw new UnusableDatabase(
      `the role ${role} may not create tables in the schema public: grant create on schema public to ${role}`,
    );
}

/** Returns the checksums of the applied migrations, by name. */
async function readJournal(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

function refuseMismatch(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const [baseline] = migrations;
  if (applied.size > 0 && baseline !== undefined && !applied.has(baseline.name))
    throw new MigrationMismatch(
      'the database was created before release 0.9.0 and cannot be upgraded: remove it (with npm start: the folder .data) and start again',
    );
  // During a deployment, a newer release may already have migrated the database. Its migrations only expand the schema, and are unknown
  // here.
  for (const { name, checksum } of migrations)
    if ((applied.get(name) ?? checksum) !== checksum)
      throw new MigrationMismatch(`migration ${name} was changed after it was applied`);
}

async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { sql } = migration;
  const index = concurrentIndex(sql);
  if (index !== null) {
    // An interrupted build, or one without its journal entry, leaves an index that may be invalid.
    await client.query(`drop index concurrently if exists ${index}`);
    await client.query(sql);
    await record(client, migration);
    return;
  }
  for (let tries = 1; ; tries += 1) {
    try {
      await applyInTransaction(client, migration);
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      const mayRepeat = code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED;
      if (!mayRepeat || tries === TABLE_LOCK_TRIES_MAX) throw error;
      await setTimeout(TABLE_LOCK_PAUSE_MS * (1 + Math.random()));
    }
  }
}

async function applyInTransaction(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = '${TABLE_LOCK_MS_MAX}ms'`);
    await client.query(migration.sql);
    await record(client, migration);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function record(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     values ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), migration.checksum, migration.name],
  );
}
