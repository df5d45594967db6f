import type { Database } from './database.js';
import { findSettingsFault } from './settings.js';
import type { Sql } from './sql.js';

/** Rights on tables that processes only read or only append to. All other tables need `RIGHTS_USUAL`. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  _prisma_migrations: ['select'],
  audit_entries: ['select', 'insert'],
};
const RIGHTS_USUAL = ['select', 'insert', 'update', 'delete'];

/**
 * Returns why a process cannot use the database, in one sentence: a session setting or missing rights. Returns null if nothing is wrong, or
 * before the first migration.
 */
export async function findRightsFault({ sql, pool }: Pick<Database, 'sql' | 'pool'>): Promise<string | null> {
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
      cross join lateral jsonb_array_elements_text(coalesce(${JSON.stringify(RIGHTS)}::jsonb -> c.relname, ${JSON.stringify(RIGHTS_USUAL)}::jsonb))
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
