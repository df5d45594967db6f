import type { Database } from '../client/database.js';
import { bytesText } from '../client/sql.js';

/** What the provider told of a template, a number or a business account, as it came. */
export interface NewProviderChange {
  /** SHA-256 of all of it. */
  digest: Uint8Array;
  businessAccountId: string;
  field: string;
  value: Record<string, unknown>;
  occurredAt: Date;
}

/** A stored change that waits to be applied. */
export interface StoredProviderChange extends Omit<NewProviderChange, 'digest'> {
  id: bigint;
  /** How often it could not be applied. */
  tries: number;
}

/** Stores changes in one statement, for the worker to apply. Leaves out those that are stored already. @returns how many are new */
export async function storeProviderChanges(
  database: Database,
  changes: readonly NewProviderChange[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const records = changes.map(({ digest, ...change }) => ({ ...change, digest: bytesText(digest) }));
  return database.sql.execute`
    insert into provider_changes (digest, business_account_id, field, value, occurred_at)
    select c.digest, c."businessAccountId", c.field, c.value, c."occurredAt"
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as c (digest bytea, "businessAccountId" text, field text, value jsonb, "occurredAt" timestamptz)
    -- In one order for everybody, as for receipts.
    order by c.digest
    on conflict (digest) do nothing`;
}

/** Seconds after which a taken change that was not finished is due again. */
const LEASE_SECONDS = 15;

/** Takes changes that are due, oldest first. Each goes to one caller, and is due again later if that caller dies. */
export async function takeDueProviderChanges(
  database: Database,
  limit: number,
): Promise<StoredProviderChange[]> {
  const rows = await database.sql.query<StoredProviderChange[]>`
    with due as materialized (
      select id from provider_changes where due_at <= statement_timestamp() order by due_at, id limit ${limit} for update skip locked
    )
    update provider_changes set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id in (select id from due)
    returning id, business_account_id as "businessAccountId", field, value, occurred_at as "occurredAt", tries`;
  return rows.toSorted((a, b) => Number(a.id - b.id));
}

/** Postpones a change that the database refuses: a second, then longer, a minute at most. */
export async function postponeProviderChange(database: Database, id: bigint): Promise<void> {
  await database.sql.execute`
    update provider_changes set due_at = clock_timestamp() + make_interval(secs => least(60, 2 ^ tries)), tries = tries + 1
    where id = ${id} and due_at is not null`;
}

/** Marks a change as applied, as one that says nothing that we know, or as one that could not be applied. */
export async function finishProviderChange(
  database: Database,
  id: bigint,
  result: 'applied' | 'ignored' | 'failed',
): Promise<void> {
  await database.sql.execute`update provider_changes set due_at = null, result = ${result} where id = ${id}`;
}

/** Stores to which business accounts numbers belong, by their provider's ids, where that is not known. */
export async function learnBusinessAccounts(
  database: Database,
  accounts: ReadonlyMap<string, string>,
): Promise<void> {
  if (accounts.size === 0) return;
  await database.sql.execute`
    update senders s set business_account_id = k.business_account_id
    from unnest(${[...accounts.keys()]}::text[], ${[...accounts.values()]}::text[]) as k (phone_number_id, business_account_id)
    where s.phone_number_id = k.phone_number_id and s.business_account_id is null`;
}
