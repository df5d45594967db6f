import { migrate } from '@onecode/store/migrations';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** This repository's own migrations. */
export const FOLDER = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));

/** What a test of migrations works on: an empty database and an empty folder of migrations, new ones for each test. */
export interface MigrationFolder {
  url: () => string;
  /** Applies the folder's migrations. */
  up: (options?: Parameters<typeof migrate>[2]) => Promise<string[]>;
  /** Applies this repository's own. */
  upOurs: () => Promise<string[]>;
  /** Writes a migration into the folder. */
  write: (migration: string, text: string) => Promise<void>;
  /** Takes a migration out of the folder. */
  remove: (migration: string) => Promise<void>;
  sql: <Row extends object>(text: string, from?: string) => Promise<Row[]>;
  /** The names that the journal has. */
  applied: () => Promise<string[]>;
}

/** The names of this repository's own migrations, in their order. */
export async function ours(): Promise<string[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
}

export function useMigrationFolder(): MigrationFolder {
  let server: pg.Client;
  let url: string;
  let folder: string;
  let name: string;

  beforeEach(async () => {
    server = new pg.Client({ connectionString: process.env['TEST_DATABASE_URL'] });
    await server.connect();
    name = `onecode_test_${randomBytes(6).toString('hex')}`;
    await server.query(`create database ${name}`);
    const address = new URL(process.env['TEST_DATABASE_URL'] as string);
    address.pathname = `/${name}`;
    url = address.href;
    folder = await mkdtemp(join(tmpdir(), 'onecode-migrations-'));
  });
  afterEach(async () => {
    await server.query(`drop database ${name} with (force)`);
    await server.end();
    await rm(folder, { recursive: true });
  });

  async function sql<Row extends object>(text: string, from: string = url): Promise<Row[]> {
    const client = new pg.Client({ connectionString: from });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  return {
    url: () => url,
    up: (options) => migrate(url, folder, options),
    upOurs: () => migrate(url),
    async write(migration, text) {
      await mkdir(join(folder, migration), { recursive: true });
      await writeFile(join(folder, migration, 'migration.sql'), text);
    },
    remove: (migration) => rm(join(folder, migration), { recursive: true }),
    sql,
    async applied() {
      const rows = await sql<{ migration_name: string }>(
        'select migration_name from _prisma_migrations order by started_at',
      );
      return rows.map((row) => row.migration_name);
    },
  };
}
