import type pg from 'pg';

/** Settings of a session, by their names. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The settings that a connection asks for through any pooler: PgBouncer keeps them for each client, in whichever session it runs. Days
 * without an offset mean UTC, and times are read in ISO form.
 */
export const POOLED_SETTINGS: Settings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  standard_conforming_strings: 'on',
};

/**
 * The settings that decide the results of statements. Each session has them, so that no default of the server, the database or the role
 * changes a result. deploy/pgbouncer/pgbouncer.ini has the same for poolers in transaction mode.
 */
export const FIXED_SETTINGS: Settings = {
  standard_conforming_strings: 'on',
  search_path: 'public',
  // Statements lock rows, and then read what the transaction before them has committed.
  default_transaction_isolation: 'read committed',
  array_nulls: 'on',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  // On, it also ends a session for an error that a function catches.
  exit_on_error: 'off',
};

/** Settings that only the operator can change: one is for superusers, and a database keeps its encoding. */
const OPERATOR_SETTINGS: Settings = { session_replication_role: 'origin', server_encoding: 'UTF8' };

/** Turns off time-outs that the operator may have set as defaults: processes bound their statements by `statement_timeout`. */
export const UNBOUNDED_SETTINGS: Settings = { lock_timeout: '0', idle_session_timeout: '0' };

/**
 * Returns the settings of a session that differ from those that our statements rely on, with their values and the remedy, on one line;
 * null if all are right.
 *
 * @param more further settings that the session must have
 */
export async function findSettingsFault(
  client: Pick<pg.ClientBase, 'query'>,
  more: Settings = {},
): Promise<string | null> {
  const wanted = { ...FIXED_SETTINGS, ...OPERATOR_SETTINGS, DateStyle: 'ISO', ...more };
  const { rows } = await client.query<{ name: string; fault: string; remedy: string }>(
    `select name, format('%s is %L instead of %L', name, current_setting(name, true), value) as fault,
       case name
         when 'server_encoding' then 'create it with the encoding UTF8'
         else format('alter role %I in database %I set %s = %L', session_user, current_database(), name, value)
       end as remedy
     from unnest($1::text[], $2::text[]) as wanted (name, value)
     where case name
       -- Any path is right that leads to this schema first. A role that may not use it lacks a right.
       when 'search_path' then current_schema() is distinct from value and current_setting(name) <> value
       -- The order of day and month, as in 'ISO, DMY', does not change how times are written.
       when 'DateStyle' then current_setting(name) not like value || ',%'
       else current_setting(name, true) <> value
     end`,
    [Object.keys(wanted), Object.values(wanted)],
  );
  if (rows.length === 0) return null;
  const remedies = rows.map(({ remedy }) => remedy);
  // Without a pooler, each connection sets these itself.
  if (rows.some(({ name }) => name in FIXED_SETTINGS))
    remedies.push('or set it in the pooler, as deploy/pgbouncer/pgbouncer.ini does');
  return `the database cannot be used as it is configured, ${rows.map(({ fault }) => fault).join(' and ')}: ${remedies.join('; ')}`;
}
