import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { closeDatabase, openDatabase, type Database } from '../client/database.js';
import { migrate, readMigrations } from '../migrations/migrations.js';

/** A database of one test file's own, and direct SQL on it for what the store has no function for. */
export interface TestDatabase {
  url: string;
  database: Database;
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Closes every connection and drops the database. */
  drop(): Promise<void>;
}

const TEMPLATE_LOCK = 7_165_202;

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

/** A name that changes with the migrations, so that a server that is kept never offers an old template. */
async function templateName(): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum).join();
  return `onecode_test_template_${createHash('sha256').update(checksums).digest('hex').slice(0, 12)}`;
}

/** Clones a database from the migrated template, which the first caller makes. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `onecode_test_${randomBytes(6).toString('hex')}`;
  const template = await templateName();
  await withServer(async (server) => {
    // Held until the clone is there: a template must have no other connection while it is copied.
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
  const url = urlOf(name);
  const database = openDatabase(url, { connectionsMax: 20 });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  // Dropping the database cuts connections that are still closing.
  pool.on('error', () => {});
  return {
    url,
    database,
    async sql<Row extends object>(text: string, values: unknown[] = []) {
      return (await pool.query(text, values)).rows as Row[];
    },
    async drop() {
      await pool.end();
      await closeDatabase(database);
      await withServer((server) => server.query(`drop database ${name} with (force)`));
    },
  };
}

async function withServer(use: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl() });
  await server.connect();
  try {
    await use(server);
  } finally {
    await server.end();
  }
}
