import type { Send, SendChange } from '@onecode/domain';
import { bytesText } from '../client/sql.js';
import { Prisma } from '../generated/prisma/client.js';

const fixed = <const Name extends string>(name: Name) => ({ name, type: null }) as const;
/** A column that a decision may write. @param type PostgreSQL's type */
const writable = <const Name extends string>(
  name: Name,
  type: 'uuid' | 'text' | 'smallint' | 'timestamptz' | 'bytea',
) => ({ name, type }) as const;

/** The columns of `sends` by the fields of `Send`. The select list, the rows, the records and the `set` lists are derived from them. */
const COLUMNS = {
  id: fixed('id'),
  accountId: fixed('account_id'),
  applicationId: fixed('application_id'),
  mode: fixed('mode'),
  recipient: fixed('recipient'),
  country: fixed('country'),
  locale: fixed('locale'),
  chargedFrom: fixed('charged_from'),
  codeHash: fixed('code_hash'),
  encryptedCode: writable('encrypted_code', 'bytea'),
  status: writable('status', 'text'),
  phase: writable('phase', 'text'),
  verification: fixed('verification'),
  wrongGuesses: fixed('wrong_guesses'),
  channel: writable('channel', 'text'),
  from: writable('from_number', 'text'),
  senderId: writable('sender_id', 'uuid'),
  attempts: writable('attempts', 'smallint'),
  attemptNumber: writable('attempt_number', 'smallint'),
  claimedAt: writable('claimed_at', 'timestamptz'),
  claimedUntil: writable('claimed_until', 'timestamptz'),
  receiptUntil: writable('receipt_until', 'timestamptz'),
  dueAt: writable('due_at', 'timestamptz'),
  createdAt: fixed('created_at'),
  expiresAt: fixed('expires_at'),
  sentAt: writable('sent_at', 'timestamptz'),
  deliveredAt: writable('delivered_at', 'timestamptz'),
  readAt: writable('read_at', 'timestamptz'),
  verifiedAt: fixed('verified_at'),
  lockedAt: fixed('locked_at'),
  failedAt: writable('failed_at', 'timestamptz'),
  failureReason: writable('failure_reason', 'text'),
  requestId: fixed('request_id'),
  traceparent: fixed('traceparent'),
} as const satisfies {
  [Field in keyof Send]: { name: string; type: Field extends keyof SendChange ? string : null };
};

type Columns = typeof COLUMNS;

/** A row of `sends` with the version that guards its changes. The table's checks allow only the values of `Send`. */
export type SendRow = { [Field in keyof Send as Columns[Field]['name']]: Send[Field] } & { version: number };

const FIELDS = Object.keys(COLUMNS) as (keyof Send)[];
const WRITABLE = FIELDS.filter((field) => COLUMNS[field].type !== null);
const NAMES = [...FIELDS.map((field) => COLUMNS[field].name), 'version'];

/**
 * Returns the columns of a `SendRow`, taken from `source`. They are named, because `*` changes its shape when a migration adds a column:
 * each connection's prepared statement would then fail once, in the middle of a deployment.
 */
export function sendColumns(source: string): Prisma.Sql {
  return Prisma.raw(NAMES.map((name) => `${source}.${name}`).join(', '));
}

/** Returns the domain's form of a row. */
export function toSend(row: SendRow): Send {
  const send: Record<string, unknown> = {};
  for (const field of FIELDS) send[field] = row[COLUMNS[field].name];
  return send as unknown as Send;
}

/** Returns the writable columns of a send, for `json_to_recordset` with `RECORD_COLUMNS`. */
export function toSendRecord(send: Send): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const field of WRITABLE) {
    const value = send[field];
    record[COLUMNS[field].name] = value instanceof Uint8Array ? bytesText(value) : value;
  }
  return record;
}

/** The columns of a record, with their types. */
export const RECORD_COLUMNS = Prisma.raw(
  WRITABLE.map((field) => `${COLUMNS[field].name} ${COLUMNS[field].type}`).join(', '),
);

/** Returns the assignments of an update that takes all writable columns from the record `source`. */
export function assignments(source: string): Prisma.Sql {
  return Prisma.raw(
    WRITABLE.map((field) => `${COLUMNS[field].name} = ${source}.${COLUMNS[field].name}`).join(', '),
  );
}
