import { createHash, randomBytes } from 'node:crypto';
import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';
import { migrate, readMigrations } from '@onecode/store/migrations';
import pg from 'pg';
import { openForFile } from './openForFile.js';

/** A migrated database of one test file, with plain SQL for operations that the store has no function for. */
export interface TestDatabase {
  url: string;
  database: Database;
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Opens a separate connection, for locks and transactions. The caller closes it. */
  connect(): Promise<pg.Client>;
  /** Returns the number of sessions that wait for a lock. */
  countLockWaits(): Promise<number>;
  /** Closes the connections of `database` and `sql`, and drops the database. */
  drop(): Promise<void>;
}

const TEMPLATE_LOCK = 7_165_202;
/** Long, so that tests also pass on a busy machine. */
const TIMEOUTS = { connectionMs: 30_000, statementMs: 30_000 };

function serverUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined) throw new Error('TEST_DATABASE_URL is missing: run the tests with npm test');
  return url;
}

function urlOf(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}

/** Returns the template's name. It changes with the migrations, so that a long-lived server never provides an outdated template. */
async function templateName(): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum).join();
  return `onecode_test_template_${createHash('sha256').update(checksums).digest('hex').slice(0, 12)}`;
}

/** Clones a database from the migrated template. The first caller creates the template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = await templateName();
  return createDatabase(async (server, name) => {
    // Held until the clone is complete, because PostgreSQL copies a template only while it has no connections.
    await server.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await server.query('select from pg_database where datname = $1', [template]);
    if (rowCount === 0) {
      await server.query(`drop database if exists ${template}_new with (force)`);
      await server.query(`create database ${template}_new`);
      await migrate(urlOf(`${template}_new`));
      await server.query(`alter database ${template}_new rename to ${template}`);
    }
    await server.query(`create database ${name} template ${template}`);
  });
}

/** Creates a database without tables, for tests of migrations. */
export const createEmptyDatabase = (): Promise<TestDatabase> =>
  createDatabase((server, name) => server.query(`create database ${name}`));

async function createDatabase(
  create: (server: pg.Client, name: string) => Promise<unknown>,
): Promise<TestDatabase> {
  const name = `onecode_test_${randomBytes(6).toString('hex')}`;
  await withServer((server) => create(server, name));
  const db = connectTestDatabase(urlOf(name));
  return {
    ...db,
    async drop() {
      await db.drop();
      await withServer((server) => server.query(`drop database ${name} with (force)`));
    },
  };
}

/** Connects to an existing migrated database. `drop` only closes the connections. */
export function connectTestDatabase(url: string): TestDatabase {
  const database = openDatabase(url, { connectionsMax: 20, timeouts: TIMEOUTS });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // Idle connections break when the database is dropped.
  pool.on('error', () => {});
  return {
    url,
    database,
    async sql<Row extends object>(text: string, values: unknown[] = []) {
      return (await pool.query(text, values)).rows as Row[];
    },
    async connect() {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    },
    async countLockWaits() {
      const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await pool.query(waits)).rowCount ?? 0;
    },
    async drop() {
      await pool.end();
      await closeDatabase(database);
    },
  };
}

/** Creates one database for all tests of a file. Use it inside hooks and tests only. */
export function useTestDatabase(): Omit<TestDatabase, 'drop'> {
  return openForFile(createTestDatabase, (db) => db.drop());
}

/** Returns the whole content of a database: the text of the values of each `table.column`, with bytes in hex. */
export async function tableContents(db: Pick<TestDatabase, 'sql'>): Promise<Map<string, string>> {
  const columns = await db.sql<{ table: string; column: string }>(
    `select c.table_name as "table", c.column_name as "column"
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1, 2`,
  );
  const contents = new Map<string, string>();
  for (const { table, column } of columns) {
    const [row] = await db.sql<{ text: string | null }>(
      `select string_agg("${column}"::text, E'\\n') as text from "${table}"`,
    );
    contents.set(`${table}.${column}`, row?.text ?? '');
  }
  return contents;
}

/**
 * Makes the database refuse writes, with errors that quote the whole row, as constraint violations do.
 *
 * @param writes an event and a table of a trigger, for example `delete on api_keys`
 * @param condition which rows, by `old` and `new`
 * @returns a function that reverts this
 */
export async function refuseWrites(
  db: Pick<TestDatabase, 'sql'>,
  writes: string,
  condition = 'true',
): Promise<() => Promise<void>> {
  await db.sql(
    `create function refuse() returns trigger language plpgsql as $$
     declare
       v_row text := to_jsonb(coalesce(new, old));
     begin
       raise exception 'refused by a test: %', replace(v_row, '+', '')
         using detail = 'Failing row contains ' || v_row, hint = v_row;
     end $$`,
  );
  await db.sql(
    `create trigger refuse before ${writes} for each row when (${condition}) execute function refuse()`,
  );
  return async () => {
    await db.sql('drop function refuse() cascade');
  };
}

/** Makes the database refuse new sends and status changes of sends. Sweeps and attempts continue, so workers also get the errors. */
export const refuseSendWrites = (db: Pick<TestDatabase, 'sql'>): Promise<() => Promise<void>> =>
  refuseWrites(db, 'insert or update of status, verification on sends');

async function withServer(use: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl() });
  await server.connect();
  try {
    await use(server);
  } finally {
    await server.end();
  }
}
