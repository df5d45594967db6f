import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const FOLDER = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));
/** Any fixed number: it keeps migrations that start at once in a line. */
const LOCK = 7_165_201;
const LOCK_PAUSE_MS = 100;
/** While a migration waits for a table, everything that comes after it waits too. */
const LOCK_SECONDS_MAX = 2;
/** A migration that is this one statement and comments builds its index while everybody goes on writing. */
const CONCURRENT_INDEX = /^(?:--.*\n|\s)*create (?:unique )?index concurrently (\w+) [^;]*;\s*$/;
/** A migration that is this one block and comments changes many rows, and commits what it has done so far again and again. */
const STEPS = /^(?:--.*\n|\s)*do \$\$(?:(?!\$\$)[^])*\bcommit;(?:(?!\$\$)[^])*\$\$;\s*$/;

/** The table in which Prisma keeps its migrations, so that `prisma migrate deploy` can take over at any time. */
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

/** The name of the index that this migration builds beside the service, outside of any transaction; null for all others. */
export function concurrentIndex(sql: string): string | null {
  return CONCURRENT_INDEX.exec(sql)?.[1] ?? null;
}

/** Whether this migration commits step by step, outside of any transaction. Cut off, it goes on where it stopped. */
export function commitsInSteps(sql: string): boolean {
  return STEPS.test(sql);
}

/** The migrations of a folder in the order in which they are applied, each with the SHA-256 of its SQL in hex. */
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

/** The database has migrations that this release does not know how to go on from. */
export class MigrationMismatch extends Error {}

/**
 * Brings a database to the newest schema: each folder of `prisma/migrations` once, in the order of their names, each in a
 * transaction. Running it again does nothing, and several that start at once wait for each other. A migration that does not get
 * a table within two seconds, as during a backup, is given up rather than hold up the service; run it again later. One that
 * builds an index concurrently waits for backups and holds up nobody; one that commits in steps holds rows for a step only.
 *
 * @returns the names of the migrations applied by this call
 * @throws MigrationMismatch when an applied migration differs from the one in the folder, or the database is older than the first one
 */
export async function migrate(url: string, folder: string = FOLDER): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await takeLock(client);
    await client.query(JOURNAL);
    const migrations = await readMigrations(folder);
    const applied = await readJournal(client);
    refuseMismatch(applied, migrations);
    const pending = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    // Ending the connection gives the lock back.
    await client.end();
  }
}

/** Asks again and again: an index that is built concurrently would wait for a statement that waits for the lock. */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    await setTimeout(LOCK_PAUSE_MS);
  }
}

/** The checksums of the migrations that were applied, by their names. */
async function readJournal(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    'select migration_name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

function refuseMismatch(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const [baseline] = migrations;
  if (applied.size > 0 && baseline !== undefined && !applied.has(baseline.name))
    throw new MigrationMismatch(
      'the database was made before release 1.0.0 and cannot be upgraded: remove it (with npm start: the folder .data) and start again',
    );
  // A newer release may have gone before us during a deploy: its migrations only add, and are not known here.
  for (const { name, checksum } of migrations)
    if ((applied.get(name) ?? checksum) !== checksum)
      throw new MigrationMismatch(`migration ${name} was changed after it was applied`);
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const index = concurrentIndex(sql);
  if (index !== null) {
    // A build that was cut off, or whose journal entry was, leaves an index that may be of no use.
    await client.query(`drop index concurrently if exists ${index}`);
    await client.query(sql);
    await record(client, name, checksum);
    return;
  }
  if (commitsInSteps(sql)) {
    await client.query(`set lock_timeout = '${LOCK_SECONDS_MAX}s'`);
    await client.query(sql);
    await client.query('reset lock_timeout');
    await record(client, name, checksum);
    return;
  }
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = '${LOCK_SECONDS_MAX}s'`);
    await client.query(sql);
    await record(client, name, checksum);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function record(client: pg.Client, name: string, checksum: string): Promise<void> {
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     values ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}
