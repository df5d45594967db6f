import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@onecode/testing';
import type pg from 'pg';
import {
  changedFunctions,
  describeSchema,
  functionFiles,
  readFunctions,
  withFunctions,
} from '../scripts/database/schema.mjs';

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = await db.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

const FUNCTIONS = `
  select distinct proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public' order by 1`;

describe('prisma/schema.sql', () => {
  it('matches the migrations (npm run generate writes it)', async () => {
    expect(readFileSync('prisma/schema.sql', 'utf8')).toBe(await describeSchema(client));
  });
});

describe('prisma/functions', () => {
  it('has one file per function of the database, with its name', async () => {
    const { rows } = await client.query<{ name: string }>(FUNCTIONS);
    const files = functionFiles().map((file) => basename(file, '.sql'));
    expect(files.toSorted()).toEqual(rows.map(({ name }) => name));
  });

  it('matches the migrations (npm run migration starts one for changed functions)', async () => {
    expect(await changedFunctions(client)).toEqual([]);
  });

  it('is written into a migration by npm run migration, each function in its place', () => {
    const migrations = readdirSync('prisma/migrations', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => readFileSync(`prisma/migrations/${name}/migration.sql`, 'utf8'));
    const migration = migrations.findLast((sql) => sql.includes('create or replace function'))!;
    expect(withFunctions(migration, readFunctions())).toEqual({ text: migration, replaced: [] });
    const [, one] = /function (\w+)\(/.exec(migration)!;
    const withArgument = (sql: string): string =>
      sql.replace(`function ${one}(`, `function ${one}(p_more text, `);
    const changed = readFunctions().map(({ name, sql }) => ({
      name,
      sql: name === one ? withArgument(sql) : sql,
    }));
    const refreshed = withFunctions(migration, changed);
    expect(refreshed.replaced).toEqual([one]);
    expect(refreshed.text).toBe(withArgument(migration));
    expect(withFunctions(refreshed.text, readFunctions()).text).toBe(migration);
  });

  it('names the functions that changed since the last migration', async () => {
    await client.query(
      `create or replace function is_held(holds text[], account_id uuid, country text) returns boolean language sql immutable as $$ select false $$`,
    );
    const changed = await changedFunctions(client);
    expect(changed).toEqual([
      { name: 'is_held', sql: readFileSync('prisma/functions/holds/is_held.sql', 'utf8') },
    ]);
  });
});
