import type { LimitCause, Locale, RecipientCause, Send } from '@onecode/domain';
import {
  byOrdinal,
  createBatcher,
  oncePerClient,
  OVERLAPPING_BATCHES_MAX,
  type WithOrdinal,
} from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { bytesText } from '../client/sql.js';
import { createAccountQueues } from './accountQueues.js';
import { Prisma } from '../generated/prisma/client.js';
import { findSend } from './readSend.js';

/** What a creation stores. The caller makes the id, because the code's hash and the encrypted code are bound to it. */
export interface NewSend {
  id: string;
  /** The key of the request. It is checked again under the account's lock. */
  keyId: string;
  accountId: string;
  applicationId: string;
  /** The key's bytes (1 to 255) with the `bodyHashes` of the body's exact bytes, or null without a key. */
  idempotency: { key: Uint8Array; bodyHashes: readonly Uint8Array[] } | null;
  /** E.164, as the request gave it: what is messaged and shown. */
  recipient: string;
  /** What limits, windows and budgets count by: see `recipientKeys`. */
  recipientKeys: readonly string[];
  country: string | null;
  /** Whether somebody earns by messages to this range. */
  isPremiumRate: boolean;
  /** Null: the account's language. */
  locale: Locale | null;
  codeHash: Uint8Array;
  /** Null in test mode. */
  encryptedCode: Uint8Array | null;
  /** Points that a wrong guess at the code takes from the recipient's guess budget. */
  guessCost: number;
  /** A UUID, which log lines about the send carry. */
  requestId: string;
  /** The trace that the creation belongs to, as W3C's `traceparent`. */
  traceparent: string | null;
}

/** What a limit leaves after a request. */
export interface RateWindow {
  /** Sends in one window. */
  quota: number;
  left: number;
  /** Until there is more, because the oldest send leaves the window. */
  secondsToMore: number;
}

/** The windows of the limits that are in force. The account's and the application's last a minute, the recipient's an hour. */
export interface RateWindows {
  account: RateWindow;
  application: RateWindow | null;
  recipient: RateWindow | null;
}

/** How a creation ended. `now` is the database's clock; `windows` are there where the limits were looked at. */
export type Creation =
  | { outcome: 'created'; send: Send; now: Date; windows: RateWindows }
  | { outcome: 'existing'; send: Send; now: Date }
  | { outcome: 'reused' }
  /** The key was revoked, or its account suspended, since the request was judged. */
  | { outcome: 'key_refused'; cause: 'revoked' | 'suspended' }
  | { outcome: 'recipient_refused'; cause: RecipientCause }
  | { outcome: 'rate_limited'; cause: LimitCause; retryAfterSeconds: number; windows: RateWindows }
  | { outcome: 'insufficient_credits'; windows: RateWindows };

/** Creations in one batch: their accounts are locked while it lasts. */
const CREATIONS_MAX = 50;
/** How long a batch waits for an account's lock before another account's has its turn. */
const LOCK_WAIT_MS = 500;

/**
 * Creates a send in one round trip and one transaction: idempotency look-up, country, limits, unit, row and ledger entry (the SQL
 * function `create_sends`). A refusal writes nothing and binds no key. Creations that arrive while others are under way share the next
 * transaction: a commit costs the same for one as for many.
 *
 * A transaction takes the accounts that nobody else has locked. Creations of the others go on in their accounts' queues, so that
 * nobody waits for another account's lock.
 *
 * @throws AccountBusy when the account stays locked for some seconds
 */
export function createSend(database: Database, send: NewSend): Promise<Creation> {
  return creatorOf(database)(send);
}

const creatorOf = oncePerClient((database: Database) => {
  const create = createBatcher((sends: NewSend[]) => createSends(database, sends, null), {
    batchSizeMax: CREATIONS_MAX,
    concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
  });
  const queues = createAccountQueues(
    (sends: readonly NewSend[]) => createSends(database, sends, LOCK_WAIT_MS),
    { batchSizeMax: CREATIONS_MAX },
  );
  return async (send: NewSend): Promise<Creation> => {
    const creation = queues.isOpen(send.accountId) ? 'busy' : await create(send);
    return creation === 'busy' ? queues.run(send.accountId, send) : creation;
  };
});

interface CreationRow extends Pick<Send, 'mode' | 'locale' | 'chargedFrom' | 'expiresAt'> {
  awaitingSender: boolean;
  outcome: string;
  cause: string | null;
  retryAfterSeconds: number | null;
  existingId: string | null;
  now: Date;
  account: WindowRow;
  application: WindowRow;
  recipient: WindowRow;
}

/** All null where there is no such limit. */
type WindowRow = [quota: number | null, left: number, secondsToMore: number];

/** Columns of a `rate_window` that `create_sends` answers. */
const window = (of: string): Prisma.Sql => {
  const column = `(c.${of}_window)`;
  return Prisma.raw(`array[
    ${column}.quota, greatest(${column}.remaining, 0), ceil(extract(epoch from ${column}.more_at - c.now))::integer
  ] as ${of}`);
};

/**
 * @param waitMs how long to wait for the lock of an account, which is the same for all sends then; null waits for no lock
 * @returns `busy` for those whose account somebody else has locked
 */
async function createSends(
  database: Database,
  sends: readonly NewSend[],
  waitMs: number | null,
): Promise<(Creation | 'busy')[]> {
  const rows = await database.sql.query<WithOrdinal<CreationRow>[]>`
    select c.ordinal, c.outcome, c.cause, c.retry_after_seconds as "retryAfterSeconds", c.existing_id as "existingId", c.now,
      (c.created).mode, (c.created).locale, (c.created).charged_from as "chargedFrom", (c.created).expires_at as "expiresAt",
      (c.created).awaiting_sender as "awaitingSender", ${window('account')}, ${window('application')}, ${window('recipient')}
    from create_sends(
      array(select r from json_populate_recordset(null::new_send, ${JSON.stringify(sends.map(recordOf))}::json) r), ${waitMs}::integer
    ) c`;
  return Promise.all(
    byOrdinal(sends, rows).map(async (row, index) =>
      row === undefined ? 'busy' : creationOf(database, sends[index] as NewSend, row),
    ),
  );
}

const textOf = (bytes: Uint8Array | null | undefined): string | null => (bytes ? bytesText(bytes) : null);

const recordOf = (send: NewSend, index: number): Record<string, unknown> => ({
  ordinal: index + 1,
  id: send.id,
  key_id: send.keyId,
  account_id: send.accountId,
  application_id: send.applicationId,
  idempotency_key: textOf(send.idempotency?.key),
  body_hashes: send.idempotency?.bodyHashes.map(bytesText),
  recipient: send.recipient,
  recipient_keys: send.recipientKeys,
  country: send.country,
  is_premium_rate: send.isPremiumRate,
  locale: send.locale,
  code_hash: textOf(send.codeHash),
  encrypted_code: textOf(send.encryptedCode),
  guess_cost: send.guessCost,
  request_id: send.requestId,
  traceparent: send.traceparent,
});

async function creationOf(database: Database, send: NewSend, row: CreationRow): Promise<Creation> {
  switch (row.outcome) {
    case 'created':
      return { outcome: 'created', send: createdSend(send, row), now: row.now, windows: windowsOf(row) };
    case 'existing': {
      const existing = await findSend(database, send.accountId, row.existingId as string);
      if (existing === null) throw new Error('create_sends answered a send that is not there');
      return { outcome: 'existing', ...existing };
    }
    case 'rate_limited':
      return {
        outcome: 'rate_limited',
        cause: row.cause as LimitCause,
        retryAfterSeconds: row.retryAfterSeconds ?? 1,
        windows: windowsOf(row),
      };
    case 'recipient_refused':
      return { outcome: 'recipient_refused', cause: row.cause as RecipientCause };
    case 'key_refused':
      return { outcome: 'key_refused', cause: row.cause as 'revoked' | 'suspended' };
    case 'insufficient_credits':
      return { outcome: 'insufficient_credits', windows: windowsOf(row) };
    case 'reused':
      return { outcome: 'reused' };
    default:
      throw new Error(`create_sends answered an unknown outcome: ${row.outcome}`);
  }
}

/** A send as `create_sends` has inserted it. */
const createdSend = (
  {
    id,
    accountId,
    applicationId,
    recipient,
    country,
    codeHash,
    encryptedCode,
    requestId,
    traceparent,
  }: NewSend,
  { mode, locale, chargedFrom, now, expiresAt, awaitingSender }: CreationRow,
): Send => ({
  id,
  accountId,
  applicationId,
  mode,
  recipient,
  country,
  locale,
  chargedFrom,
  codeHash,
  encryptedCode,
  createdAt: now,
  expiresAt,
  requestId,
  traceparent,
  // Each by its name: an object that begins with a spread of so many is slow to make and to read.
  status: 'queued',
  verification: 'pending',
  wrongGuesses: 0,
  channel: null,
  from: null,
  senderId: null,
  attempts: 0,
  attemptNumber: 0,
  claimedAt: null,
  claimedUntil: null,
  receiptUntil: null,
  phase: awaitingSender ? 'waiting' : 'ready',
  dueAt: awaitingSender ? expiresAt : now,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  verifiedAt: null,
  lockedAt: null,
  failedAt: null,
  failureReason: null,
});

function windowsOf(row: CreationRow): RateWindows {
  const account = windowOf(row.account);
  if (account === null) throw new Error('create_sends answered no window of the account');
  return { account, application: windowOf(row.application), recipient: windowOf(row.recipient) };
}

const windowOf = ([quota, left, secondsToMore]: WindowRow): RateWindow | null =>
  quota === null ? null : { quota, left, secondsToMore };
