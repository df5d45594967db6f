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
 * The settings that decide what our statements do. Each session has them, so that no default of the server, the database or the role
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

/** Turns time-outs off that are not ours: processes bound their statements by `statement_timeout`. */
export const UNBOUNDED_SETTINGS: Settings = {
  lock_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
};

/** Returns the settings that a server of this major version knows. It refuses a connection that names another one. */
export function knownSettings(settings: Settings, serverVersion: number): Settings {
  const { transaction_timeout: _, ...older } = settings;
  return serverVersion < 17 ? older : settings;
}

/** The names of those settings that a session lacks. An operator may bound statements otherwise than we do. */
export async function findMissing(client: pg.Client, settings: Settings): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[], $2::text[]) as wanted (name, value)
     where case
       when value <> '0' and name like '%timeout' then current_setting(name) = '0'
       else current_setting(name, true) <> value
     end`,
    [Object.keys(settings), Object.values(settings)],
  );
  return rows.map(({ name }) => name);
}

/** Gives a session settings, which a pooler takes away again when the connection ends. */
export async function applySettings(client: pg.Client, settings: Settings): Promise<void> {
  await client.query(
    `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as wanted (name, value)`,
    [Object.keys(settings), Object.values(settings)],
  );
}

/**
 * Returns which settings of a session differ from those that our statements rely on, with their values and the remedy, on one line; null
 * where none does.
 *
 * @param more further settings that the session has to have
 */
export async function findSettingsFault(
  client: Pick<pg.ClientBase, 'query'>,
  more: Settings = {},
): Promise<string | null> {
  const wanted = { ...FIXED_SETTINGS, ...OPERATOR_SETTINGS, ...more };
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
       else current_setting(name, true) <> value
     end`,
    [Object.keys(wanted), Object.values(wanted)],
  );
  if (rows.length === 0) return null;
  const remedies = rows.map(({ remedy }) => remedy);
  // Elsewhere each session sets these itself.
  if (rows.some(({ name }) => name in FIXED_SETTINGS))
    remedies.push('or set it in the pooler, as deploy/pgbouncer/pgbouncer.ini does');
  return `the database cannot be used as it is configured, ${rows.map(({ fault }) => fault).join(' and ')}: ${remedies.join('; ')}`;
}
