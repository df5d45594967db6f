import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { root } from '../checkout.mjs';
import { Processes } from '../processes/processes.mjs';
import { startPostgres } from '../services/postgres.mjs';

const migrationsFolder = join(root, 'prisma/migrations');
const functionsFolder = join(root, 'prisma/functions');

/** The part of `prisma/schema.sql` before the first table. */
const HEADER = `-- The database as it is after all migrations; its functions are in functions/, a file each. Made by \`npm run generate\`: a test fails
-- when it is stale.
`;

/**
 * Returns the text of `prisma/schema.sql`: this database's types and tables by name, each table with its columns in order, keys, checks,
 * indexes and triggers.
 * @param {pg.Client} client
 * @returns {Promise<string>}
 */
export async function describeSchema(client) {
  const [types, tables] = [await client.query(TYPES), await client.query(TABLES)];
  const parts = [...types.rows, ...tables.rows].map(({ definition }) => `${definition.trim()};\n`);
  return [HEADER, ...parts].join('\n');
}

/**
 * Returns the functions of `prisma/functions` that differ from this database's or are missing there, in the order of their files' names. It
 * changes nothing: every attempt is rolled back.
 * @param {pg.Client} client with all migrations applied
 * @returns {Promise<{ name: string, sql: string }[]>}
 */
export async function changedFunctions(client) {
  const changed = [];
  for (const file of functionFiles()) {
    const sql = readFileSync(file, 'utf8');
    const before = await definitions(client);
    await client.query('begin');
    // The order does not matter, because the body of a function is checked when it is called.
    await client.query('set local check_function_bodies = off');
    await client.query(sql);
    const after = await definitions(client);
    await client.query('rollback');
    if (after !== before) changed.push({ name: basename(file, '.sql'), sql });
  }
  return changed;
}

/**
 * Returns the paths of the files of `prisma/functions`, in the order of the functions' names.
 * @returns {string[]}
 */
export function functionFiles() {
  const names = readdirSync(functionsFolder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.sql')).map((name) => join(functionsFolder, name));
  return files.toSorted((one, other) => (basename(one) < basename(other) ? -1 : 1));
}

/**
 * Returns the functions of `prisma/functions`, by their names.
 * @returns {{ name: string, sql: string }[]}
 */
export const readFunctions = () =>
  functionFiles().map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(file, 'utf8') }));

/**
 * Replaces older texts of functions in the text of a migration. A function ends with the first line that ends with `$$;`, or that is
 * `end;`. The comments above a function are not copied from its file.
 * @param {string} migration
 * @param {readonly { name: string, sql: string }[]} functions
 * @returns {{ text: string, replaced: string[] }} replaced: the names of changed functions
 */
export function withFunctions(migration, functions) {
  let text = migration;
  const replaced = [];
  for (const { name, sql } of functions) {
    const own = sql.slice(sql.search(/^create /m)).trimEnd();
    const before = text;
    const older = new RegExp(`^create (?:or replace )?function ${name}\\([^]*?(?:\\$\\$;|^end;)$`, 'm');
    text = text.replace(older, () => own);
    if (text !== before) replaced.push(name);
  }
  return { text, replaced };
}

/**
 * Applies all migrations to an empty database.
 * @param {pg.Client} client
 */
export async function applyMigrations(client) {
  for (const name of readdirSync(migrationsFolder).toSorted())
    await client.query(readFileSync(join(migrationsFolder, name, 'migration.sql'), 'utf8'));
}

/**
 * Calls `work` with a connection to an empty database on a temporary PostgreSQL.
 * @template T
 * @param {(client: pg.Client) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withEmptyDatabase(work) {
  const processes = Processes.throwaway();
  try {
    const { url } = await startPostgres({ processes, throwaway: true, log: () => {} });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  } finally {
    await processes.stop();
  }
}

/**
 * @param {pg.Client} client
 * @returns {Promise<string>}
 */
async function definitions(client) {
  const { rows } = await client.query(FUNCTIONS);
  return rows.map(({ definition }) => definition).join('\n');
}

/** Keys come before checks, each sorted by name; the index of a key is not listed separately. */
const TABLES = `
  select 'create ' || case c.relpersistence when 'u' then 'unlogged ' else '' end || 'table ' || c.relname || E' (\\n  '
    || array_to_string(array(
      select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attcollation <> t.typcollation then ' collate ' || quote_ident(l.collname) else '' end
        || case a.attidentity when 'a' then ' generated always as identity' when 'd' then ' generated by default as identity' else '' end
        || case when d.oid is null then '' when a.attgenerated = 's' then ' generated always as ' || pg_get_expr(d.adbin, d.adrelid) || ' stored'
          else ' default ' || pg_get_expr(d.adbin, d.adrelid) end
        || case when a.attnotnull then ' not null' else '' end
      from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_collation l on l.oid = a.attcollation
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
    ) || array(
      select 'constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid, true) from pg_constraint k
      where k.conrelid = c.oid and k.contype <> 'n' order by position(k.contype in 'pufc'), k.conname
    ), E',\\n  ')
    || E'\\n)' || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')
    || array_to_string(array['']::text[] || array(
      select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class x on x.oid = i.indexrelid
      where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = c.oid)
      order by x.relname
    ) || array(
      select pg_get_triggerdef(g.oid) from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal order by g.tgname
    ), E';\\n') as definition
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname = 'public' and c.relname <> '_prisma_migrations' order by c.relname`;

const TYPES = `
  select 'create type ' || c.relname || ' as (' || string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
    || ')' as definition
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where c.relkind = 'c' and n.nspname = 'public' and a.attnum > 0 and not a.attisdropped group by c.relname order by c.relname`;

const FUNCTIONS = `
  select pg_get_functiondef(p.oid) as definition
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'public' order by p.proname, pg_get_function_identity_arguments(p.oid)`;
