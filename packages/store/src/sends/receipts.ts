import type { Receipt } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** A stored receipt that waits to be applied. */
export interface StoredReceipt {
  id: bigint;
  receipt: Receipt;
  tries: number;
}

/**
 * Stores receipts in one statement, for the worker to apply. Leaves out those that are stored already.
 *
 * @returns the ids of the new ones
 */
export async function storeReceipts(database: Database, receipts: readonly Receipt[]): Promise<bigint[]> {
  if (receipts.length === 0) return [];
  const records = receipts.map((receipt) => ({
    message_id: receipt.messageId,
    attempt_id: receipt.attemptId,
    status: receipt.status,
    occurred_at: receipt.occurredAt.toISOString(),
    failure: receipt.failure,
    pricing: receipt.pricing,
    identity_hash: receipt.identityHash,
  }));
  const rows = await database.sql.query<{ id: bigint }[]>`
    insert into receipts (message_id, attempt_id, status, occurred_at, failure, pricing, identity_hash)
    select r.message_id, r.attempt_id, r.status, r.occurred_at, r.failure, r.pricing, r.identity_hash
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as r (message_id text, attempt_id uuid, status text, occurred_at timestamptz, failure jsonb, pricing jsonb, identity_hash text)
    -- In one order for everybody: simultaneous posts with the same receipts would wait for each other without end.
    order by r.message_id, r.status, r.attempt_id
    on conflict (attempt_id, message_id, status) do nothing
    returning id`;
  return rows.map((row) => row.id);
}

/** Seconds after which a taken receipt that was not finished is due again. */
const LEASE_SECONDS = 15;

/**
 * Takes receipts that are due, oldest first. Each goes to one caller, and is due again later if that caller dies. Compares with
 * `statement_timestamp()`, because no index can be searched by the volatile `clock_timestamp()`.
 */
export async function takeDueReceipts(database: Database, limit: number): Promise<StoredReceipt[]> {
  const rows = await database.sql.query<
    {
      id: bigint;
      message_id: string;
      attempt_id: string | null;
      status: Receipt['status'];
      occurred_at: Date;
      failure: Receipt['failure'];
      tries: number;
    }[]
  >`
    with due as materialized (
      select id from receipts where due_at <= statement_timestamp() order by due_at, id limit ${limit} for update skip locked
    )
    update receipts set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}), tries = tries + 1
    where id in (select id from due)
    returning id, message_id, attempt_id, status, occurred_at, failure, tries`;
  return rows
    .toSorted((a, b) => Number(a.id - b.id))
    .map((row) => ({
      id: row.id,
      tries: row.tries,
      receipt: {
        messageId: row.message_id,
        attemptId: row.attempt_id,
        status: row.status,
        occurredAt: row.occurred_at,
        failure: row.failure,
      },
    }));
}

/** The result of a finished receipt. */
export type ReceiptResult = 'applied' | 'ignored' | 'unmatched';

/** Marks receipts as finished. */
export async function finishReceipts(
  database: Database,
  ids: readonly bigint[],
  result: ReceiptResult,
): Promise<void> {
  if (ids.length === 0) return;
  await database.sql.execute`
    update receipts set due_at = null, result = ${result} where id = any(${[...ids]}::bigint[])`;
}

/** Postpones a receipt that cannot be judged yet. */
export async function postponeReceipt(database: Database, id: bigint, delaySeconds: number): Promise<void> {
  await database.sql.execute`
    update receipts set due_at = clock_timestamp() + make_interval(secs => ${delaySeconds}) where id = ${id}`;
}
