export type Mode = 'test' | 'live';
export type Locale = 'pt-BR' | 'en';
export const DELIVERY_STATES = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** The code's state as stored. `expired` is never stored: it follows from the clock, as `verificationAt` says. */
export type StoredVerification = 'pending' | 'verified' | 'locked';
export type Verification = StoredVerification | 'expired';
export const FAILURE_REASONS = [
  'expired_before_delivery',
  'attempts_exhausted',
  'rejected_by_provider',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];
/** Where a live send's unit was taken from. */
export type UnitBucket = 'free_quota' | 'credit';
export type Channel = 'sandbox' | 'whatsapp';

/** One code to one recipient, as stored. Times are the database's. */
export interface Send {
  readonly id: string;
  readonly accountId: string;
  readonly applicationId: string;
  readonly mode: Mode;
  /** E.164. */
  readonly recipient: string;
  /** ISO 3166, or null for numbers of no country. */
  readonly country: string | null;
  readonly locale: Locale;
  readonly chargedFrom: UnitBucket | null;
  readonly codeHash: Uint8Array;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The request that created it. */
  readonly requestId: string;
  /** The trace that its creation belongs to, as W3C's `traceparent`; null without one. */
  readonly traceparent: string | null;
  status: DeliveryState;
  verification: StoredVerification;
  wrongGuesses: number;
  channel: Channel | null;
  /** The sender's E.164 number. */
  from: string | null;
  senderId: string | null;
  /** Kept while the message may have to go out again; erased once that is over. */
  sealedCode: Uint8Array | null;
  /** Calls to the provider that count against the limit. */
  attempts: number;
  /** The number of the latest call; 0 before the first. */
  attemptNumber: number;
  /** Since when that call is under way, and how long nobody else may act; null when none is. */
  claimedAt: Date | null;
  claimedUntil: Date | null;
  /** Until when a receipt of an attempt of unknown outcome is waited for; null without such an attempt. */
  receiptUntil: Date | null;
  awaitingSender: boolean;
  /** Nobody may act on the delivery before this time; null when nothing is left to do. */
  dueAt: Date | null;
  /** Since when the send, once `sent`, has to go out again: its message was lost to a fault that was not the recipient's. */
  lostAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  readAt: Date | null;
  verifiedAt: Date | null;
  /** When the last allowed wrong guess was judged. */
  lockedAt: Date | null;
  failedAt: Date | null;
  failureReason: FailureReason | null;
}

/** The fields that a decision about the delivery may change. */
export type SendChange = Partial<
  Pick<
    Send,
    | 'status'
    | 'channel'
    | 'from'
    | 'senderId'
    | 'sealedCode'
    | 'attempts'
    | 'attemptNumber'
    | 'claimedAt'
    | 'claimedUntil'
    | 'receiptUntil'
    | 'awaitingSender'
    | 'dueAt'
    | 'lostAt'
    | 'sentAt'
    | 'deliveredAt'
    | 'readAt'
    | 'failedAt'
    | 'failureReason'
  >
>;

export type AttemptOutcome = 'accepted' | 'retry' | 'unknown' | 'sender' | 'recipient' | 'config';

/** What a decision writes about an attempt that has ended, in the same statement as the send. */
export interface AttemptChange {
  number: number;
  senderId: string | null;
  startedAt: Date;
  outcome: AttemptOutcome;
  errorCode: number | null;
  messageId: string | null;
  /** What a receipt says of a message that was not delivered, whether or not it counts. */
  report?: { at: Date; errorCode: number | null };
}

/** What a pure rule decides: a result for the caller and, unless nothing changes, what to write. */
export interface Decision<R> {
  result: R;
  change?: SendChange;
  attempts?: AttemptChange[];
}

/** Whether the send is still ours to deliver: no message was accepted, as far as we know, or the accepted one is lost. */
export function isUndelivered(send: Pick<Send, 'status' | 'lostAt'>): boolean {
  return send.status === 'queued' || send.status === 'sending' || send.lostAt !== null;
}

/** Whether this attempt of the send is under way. */
export function isUnderWay(send: Pick<Send, 'attemptNumber' | 'claimedUntil'>, attempt: number): boolean {
  return send.claimedUntil !== null && send.attemptNumber === attempt;
}

/** What ends the claim of the attempt under way. */
export const UNCLAIMED = { claimedAt: null, claimedUntil: null } as const;
