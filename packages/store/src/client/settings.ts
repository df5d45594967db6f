import type pg from 'pg';
import type { Sql } from './sql.js';

/** Settings of a session by name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The settings that a connection requests even through a pooler, because PgBouncer tracks them per client. Dates without an offset mean
 * UTC, and times are returned in ISO format.
 */
export const POOLED_SETTINGS: Settings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  standard_conforming_strings: 'on',
};

/**
 * Settings that change the results of statements. A direct connection requests them in its start-up packet; behind a pooler,
 * `connect_query` in deploy/pgbouncer/pgbouncer.ini sets them.
 */
export const FIXED_SETTINGS: Settings = {
  search_path: 'public',
  // Under `repeatable read`, a statement that waited for a row lock would fail instead of reading the committed row.
  default_transaction_isolation: 'read committed',
};

/** Turns off time-outs that the operator may have set as defaults: processes bound their statements by `statement_timeout`. */
export const UNBOUNDED_SETTINGS: Settings = { lock_timeout: '0', idle_session_timeout: '0' };

/** Returns one line with each setting of a session that differs from the value our statements need; null if all match. */
export async function findSettingsFault(client: Pick<pg.ClientBase, 'query'>): Promise<string | null> {
  const wanted = { ...POOLED_SETTINGS, ...FIXED_SETTINGS, server_encoding: 'UTF8' };
  const { rows } = await client.query<{ faults: string | null }>(
    `select string_agg(format('%s is %L instead of %L', name, current_setting(name), value), ' and ') as faults
     from unnest($1::text[], $2::text[]) as wanted (name, value)
     where value <> case name
       -- Accepts any path that starts with this schema. Without a schema that exists and is accessible, current_schema() is null.
       when 'search_path' then coalesce(current_schema(), current_setting(name))
       -- The order of day and month, as in 'ISO, DMY', does not change how times are written.
       when 'DateStyle' then split_part(current_setting(name), ',', 1)
       else current_setting(name)
     end`,
    [Object.keys(wanted), Object.values(wanted)],
  );
  const faults = rows[0]?.faults ?? null;
  return (
    faults &&
    `the database has settings that Onecode does not support (docs/operations.md#defaults): ${faults}`
  );
}

/**
 * Returns why a process cannot use the database, in one sentence: session settings or missing rights. Returns null if nothing is wrong.
 * Before the first migration, it checks no rights on tables and functions.
 */
export async function findDatabaseFault({ sql, pool }: { sql: Sql; pool: pg.Pool }): Promise<string | null> {
  return (await findSettingsFault(pool)) ?? (await findLack(sql));
}

/** Returns which rights the role lacks, naming three tables or functions; null if none. */
async function findLack(sql: Sql): Promise<string | null> {
  const [{ role, lacking }] = await sql.query<[{ role: string; lacking: string }]>`
    with owned as materialized (
      select relnamespace as schema, relowner as owner from pg_class where oid = to_regclass('_prisma_migrations')
    )
    select current_user::text as role, concat_ws(' and ',
      array_to_string((array_agg(format('%s (%s)', l.name, l.rights) order by l.name))[1:3], ', '),
      case when count(*) > 3 then count(*) - 3 || ' more' end) as lacking
    from (
      select 'the schema public' as name, 'usage' as rights
      where coalesce(not has_schema_privilege(to_regnamespace('public'), 'usage'), true)
      union all
      select c.relname, string_agg(r.name, ', ' order by r.ordinal)
      from owned o join pg_class c on c.relnamespace = o.schema and c.relowner = o.owner and c.relkind in ('r', 'p') and not c.relispartition
      -- Processes only read the first table, and only append to the second.
      cross join lateral unnest(case c.relname when '_prisma_migrations' then array['select']
        when 'audit_entries' then array['select', 'insert'] else array['select', 'insert', 'update', 'delete'] end)
        with ordinality as r (name, ordinal)
      where not has_table_privilege(c.oid, r.name)
      group by c.relname
      union all
      select p.proname, 'execute'
      from owned o join pg_proc p on p.pronamespace = o.schema and p.proowner = o.owner and p.prorettype <> 'trigger'::regtype
      where not has_function_privilege(p.oid, 'execute')
    ) l`;
  return lacking === ''
    ? null
    : `the role ${role} lacks rights on ${lacking}: docs/deploy.md#the-database has the grants`;
}
