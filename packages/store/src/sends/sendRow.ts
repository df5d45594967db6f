import type { Send, SendChange } from '@onecode/domain';
import { createLookUp } from '../client/batcher.js';
import { bytesText } from '../client/sql.js';
import { Prisma } from '../generated/prisma/client.js';

type ColumnType = 'uuid' | 'text' | 'smallint' | 'timestamptz' | 'bytea';

/** The columns of `sends` by the fields of `Send`. Those that a decision may write have PostgreSQL's type. */
const COLUMNS: {
  [Field in keyof Send]: Field extends keyof SendChange
    ? [name: string, type: ColumnType]
    : [name: string, type?: never];
} = {
  id: ['id'],
  accountId: ['account_id'],
  applicationId: ['application_id'],
  mode: ['mode'],
  recipient: ['recipient'],
  country: ['country'],
  locale: ['locale'],
  encryptedCode: ['encrypted_code', 'bytea'],
  status: ['status', 'text'],
  phase: ['phase', 'text'],
  verification: ['verification'],
  channel: ['channel', 'text'],
  from: ['from_number', 'text'],
  senderId: ['sender_id', 'uuid'],
  attempts: ['attempts', 'smallint'],
  attemptNumber: ['attempt_number', 'smallint'],
  claimedAt: ['claimed_at', 'timestamptz'],
  claimedUntil: ['claimed_until', 'timestamptz'],
  receiptUntil: ['receipt_until', 'timestamptz'],
  dueAt: ['due_at', 'timestamptz'],
  createdAt: ['created_at'],
  expiresAt: ['expires_at'],
  sentAt: ['sent_at', 'timestamptz'],
  deliveredAt: ['delivered_at', 'timestamptz'],
  readAt: ['read_at', 'timestamptz'],
  verifiedAt: ['verified_at'],
  failedAt: ['failed_at', 'timestamptz'],
  failureReason: ['failure_reason', 'text'],
  requestId: ['request_id'],
  traceparent: ['traceparent'],
};

/** A send as it was read, with the version that guards its changes, and the database's time of the read. */
export interface SendRow extends Send {
  readonly version: number;
  readonly now: Date;
}

const WRITABLE = Object.entries(COLUMNS).flatMap(([field, [name, type]]) =>
  type === undefined ? [] : { field: field as keyof SendChange, name, type },
);

/**
 * Returns the columns of a `SendRow`, taken from `source`. They are named, because `*` changes its shape when a migration adds a column:
 * each connection's prepared statement would then fail once, in the middle of a deployment.
 */
export function sendColumns(source: string): Prisma.Sql {
  const fields = Object.entries(COLUMNS).map(([field, [name]]) => `${source}.${name} as "${field}"`);
  return Prisma.raw(`${fields.join(', ')}, ${source}.version, clock_timestamp() as now`);
}

/**
 * Returns a send, or undefined if it does not exist (with `accountId`: in that account). Reads that arrive during another read share the
 * next round trip.
 */
export const findSend = createLookUp<{ id: string; accountId?: string }, SendRow>(
  (database, requests) => database.sql.read`
    select r.ordinal, ${sendColumns('s')}
    from unnest(
      ${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ accountId }) => accountId ?? null)}::uuid[]
    ) with ordinality as r (id, account_id, ordinal)
    cross join lateral (
      -- One index probe per request: a join planned while there were few sends might scan the table.
      select * from sends where id = r.id and account_id = coalesce(r.account_id, account_id) limit 1
    ) s`,
);

/** Returns the writable columns of a send, for `json_to_recordset` with `RECORD_COLUMNS`. */
export function toSendRecord(send: Send): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const { field, name } of WRITABLE) {
    const value = send[field];
    record[name] = value instanceof Uint8Array ? bytesText(value) : value;
  }
  return record;
}

/** The columns of a record, with their types. */
export const RECORD_COLUMNS = Prisma.raw(WRITABLE.map(({ name, type }) => `${name} ${type}`).join(', '));

/** Returns the assignments of an update that takes all writable columns from the record `source`. */
export function assignments(source: string): Prisma.Sql {
  return Prisma.raw(WRITABLE.map(({ name }) => `${name} = ${source}.${name}`).join(', '));
}
