import { randomBytes } from 'node:crypto';
import type { TestDatabase } from './testDatabase.js';

/** Defaults of a server, database or role that change the behavior of statements. For a repeated name, the last value counts. */
export const HOSTILE_DEFAULTS: readonly (readonly [name: string, value: string])[] = [
  ['default_transaction_isolation', 'repeatable read'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_deferrable', 'on'],
  ['standard_conforming_strings', 'off'],
  ['backslash_quote', 'off'],
  ['bytea_output', 'escape'],
  ['transform_null_equals', 'on'],
  ['DateStyle', 'SQL, DMY'],
  ['IntervalStyle', 'sql_standard'],
  ['TimeZone', 'Asia/Kathmandu'],
  ['timezone_abbreviations', 'Australia'],
  ['client_encoding', 'LATIN1'],
  ['search_path', ''],
  ['search_path', 'decoy'],
  ['row_security', 'off'],
  ['statement_timeout', '1ms'],
  ['lock_timeout', '1ms'],
  ['idle_in_transaction_session_timeout', '1ms'],
  ['idle_session_timeout', '1ms'],
  ['plpgsql.variable_conflict', 'use_variable'],
  ['plpgsql.extra_errors', 'all'],
  ['check_function_bodies', 'off'],
  ['default_text_search_config', 'german'],
  ['plan_cache_mode', 'force_custom_plan'],
  ['debug_parallel_query', 'on'],
  ['quote_all_identifiers', 'on'],
  ['xmloption', 'document'],
];

const roles: string[] = [];

/** Creates a role with the rights of the tests' role. `dropRoles` drops it. @returns its name, and the database address with that role */
export async function buildRole({ sql, url }: Store): Promise<{ role: string; url: string }> {
  const role = `onecode_test_${randomBytes(6).toString('hex')}`;
  const address = new URL(url);
  await sql(`create role ${role} login password '${role}' in role ${address.username}`);
  roles.push(role);
  return { role, url: Object.assign(address, { username: role, password: role }).href };
}

/** Drops the roles that this file has created, and their objects in the database. */
export async function dropRoles({ sql }: Store): Promise<void> {
  for (const role of roles.splice(0)) await sql(`drop owned by ${role} cascade; drop role ${role}`);
}

/**
 * Creates a role with every hostile default.
 *
 * @param timeout the value of the timeouts, which apply until a pooler has set others
 * @returns the database address with that role
 */
export async function buildHostileRole(store: Store, timeout: string): Promise<string> {
  const { role, url } = await buildRole(store);
  for (const [name, value] of HOSTILE_DEFAULTS)
    await store.sql(`alter role ${role} set ${name} = '${name.endsWith('timeout') ? timeout : value}'`);
  return url;
}

type Store = Pick<TestDatabase, 'sql' | 'url'>;
