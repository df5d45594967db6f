import type {
  Channel,
  DeliveryState,
  FailureReason,
  Locale,
  Mode,
  Send,
  StoredVerification,
  UnitBucket,
} from '@onecode/domain';
import { Prisma } from '../generated/prisma/client.js';

/** A row of `sends` as PostgreSQL returns it. */
export interface SendRow {
  id: string;
  account_id: string;
  application_id: string;
  mode: string;
  recipient: string;
  country: string | null;
  locale: string;
  charged_from: string | null;
  code_hash: Uint8Array;
  sealed_code: Uint8Array | null;
  status: string;
  verification: string;
  wrong_guesses: number;
  channel: string | null;
  from_number: string | null;
  sender_id: string | null;
  attempts: number;
  attempt_id: string | null;
  receipt_until: Date | null;
  awaiting_sender: boolean;
  due_at: Date | null;
  created_at: Date;
  expires_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  verified_at: Date | null;
  locked_at: Date | null;
  failed_at: Date | null;
  failure_reason: string | null;
  version: number;
}

const COLUMNS = [
  'id',
  'account_id',
  'application_id',
  'mode',
  'recipient',
  'country',
  'locale',
  'charged_from',
  'code_hash',
  'sealed_code',
  'status',
  'verification',
  'wrong_guesses',
  'channel',
  'from_number',
  'sender_id',
  'attempts',
  'attempt_id',
  'receipt_until',
  'awaiting_sender',
  'due_at',
  'created_at',
  'expires_at',
  'sent_at',
  'delivered_at',
  'read_at',
  'verified_at',
  'locked_at',
  'failed_at',
  'failure_reason',
  'version',
] as const satisfies readonly (keyof SendRow)[];

/**
 * The columns of a `SendRow`, taken from `source`. By name, not by a star: a star changes its shape when a migration adds a
 * column, and every connection's prepared statement would then fail once, in the middle of a deploy.
 */
export function sendColumns(source: string): Prisma.Sql {
  return Prisma.raw(COLUMNS.map((column) => `${source}.${column}`).join(', '));
}

/** The domain's view of a row. The casts are safe: the table's checks allow no other words. */
export function sendOf(row: SendRow): Send {
  return {
    id: row.id,
    accountId: row.account_id,
    applicationId: row.application_id,
    mode: row.mode as Mode,
    recipient: row.recipient,
    country: row.country,
    locale: row.locale as Locale,
    chargedFrom: row.charged_from as UnitBucket | null,
    codeHash: row.code_hash,
    sealedCode: row.sealed_code,
    status: row.status as DeliveryState,
    verification: row.verification as StoredVerification,
    wrongGuesses: row.wrong_guesses,
    channel: row.channel as Channel | null,
    from: row.from_number,
    senderId: row.sender_id,
    attempts: row.attempts,
    attemptId: row.attempt_id,
    receiptUntil: row.receipt_until,
    awaitingSender: row.awaiting_sender,
    dueAt: row.due_at,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    readAt: row.read_at,
    verifiedAt: row.verified_at,
    lockedAt: row.locked_at,
    failedAt: row.failed_at,
    failureReason: row.failure_reason as FailureReason | null,
  };
}
