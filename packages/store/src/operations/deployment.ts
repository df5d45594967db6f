import { senderState, type DatabaseFacts } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { findDatabaseFault } from '../client/settings.js';
import { readHeldSends } from '../reports/heldSends.js';
import { listSenders } from '../senders/senders.js';
import { findSchemaFault, listProcesses, readClock } from './processes.js';

const SETTINGS = ['server_version', 'fsync', 'full_page_writes', 'synchronous_commit'];

/**
 * Reads the facts that show whether a deployment is complete: the server's settings and clock, the schema, the processes, and the keys in
 * use.
 *
 * @param release the version of this release
 * @throws the database's error, including one for a missing table
 */
export async function readDatabaseFacts(database: Database, release: string): Promise<DatabaseFacts> {
  const rows = await database.sql.query<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name = any(${SETTINGS}::text[])`;
  const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const facts = {
    version: (settings['server_version'] ?? '').split(' ')[0]!,
    settings,
    clockAheadMs: await readClock(database),
  };
  const rightsFault = await findDatabaseFault(database);
  const schemaFault = rightsFault === null ? await findSchemaFault(database, release) : null;
  // The tables may be missing, or the role may not read them.
  if (rightsFault !== null || schemaFault !== null)
    return {
      ...facts,
      rightsFault,
      schemaFault,
      processes: [],
      keyVersions: [],
      senders: [],
      accountsWithoutSender: [],
      holds: [],
    };
  const now = new Date();
  return {
    ...facts,
    rightsFault,
    schemaFault,
    processes: await listProcesses(database),
    keyVersions: await readKeyVersions(database),
    senders: (await listSenders(database)).map(({ blocks, accountName }) => ({
      state: senderState(blocks, now),
      account: accountName,
    })),
    accountsWithoutSender: await listAccountsWithoutSender(database),
    holds: (await readHeldSends(database)).holds,
  };
}

async function listAccountsWithoutSender({ sql }: Database): Promise<string[]> {
  const rows = await sql.query<{ name: string }[]>`
    select a.name from accounts a where a.senders = 'own' and a.suspended_at is null
      and not exists (select from senders s where s.account_id = a.id and s.removed_at is null)
    order by a.id`;
  return rows.map(({ name }) => name);
}

/** Returns the number (or masked number) of the latest send, with its key; null without sends. */
export async function findLatestRecipient({
  sql,
}: Database): Promise<{ recipient: string; recipientKey: string } | null> {
  const [latest] = await sql.query<{ recipient: string; recipientKey: string }[]>`
    select recipient, recipient_key as "recipientKey" from sends order by id desc limit 1`;
  return latest ?? null;
}

/**
 * Returns the versions of the keys that encrypted senders' tokens, the secrets of their own apps and of webhooks, and the codes of
 * unfinished sends.
 */
async function readKeyVersions({ sql }: Database): Promise<number[]> {
  const rows = await sql.query<{ version: number }[]>`
    select get_byte(encrypted_token, 0) as version from senders where removed_at is null
    union select get_byte(encrypted_app_secret, 0) from senders where encrypted_app_secret is not null
    union select get_byte(encrypted_secret, 0) from event_webhooks
    union select get_byte(encrypted_code, 0) from sends where due_at is not null and encrypted_code is not null
    order by version`;
  return rows.map(({ version }) => version);
}
