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
/**
 * Where a send is in its delivery. `docs/lifecycle.md` has the table of what leads from one to the next.
 *
 * - `ready`: a worker may take it
 * - `waiting`: no sender has a permit, or a hold matches it; it fails at its deadline
 * - `calling`: a worker calls the provider, and the outcome of the call decides
 * - `backing_off`: another call follows when it is due
 * - `giving_up`: no call follows; it fails when it is due, unless a report says that a message arrived
 * - `unconfirmed`: the provider accepted a message, and a report may still send it again
 * - `done`: nothing is sent any more
 */
export const PHASES = [
  'ready',
  'waiting',
  'calling',
  'backing_off',
  'giving_up',
  'unconfirmed',
  'done',
] as const;
export type Phase = (typeof PHASES)[number];
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
  phase: Phase;
  /** A live send has it until it is `done`. */
  encryptedCode: Uint8Array | null;
  /** Calls to the provider that count against the limit. */
  attempts: number;
  /** The number of the latest call; 0 before the first. */
  attemptNumber: number;
  /**
   * Since when a worker makes that call, and until when no other worker may act; null without a call. They stay when a report overtakes the
   * answer: the send is then `unconfirmed` or `done`, and the answer only completes its attempt.
   */
  claimedAt: Date | null;
  claimedUntil: Date | null;
  /** Until when a receipt of an attempt of unknown outcome is waited for; null without such an attempt. */
  receiptUntil: Date | null;
  /** When a worker may act on the delivery next; null if the send is `unconfirmed` or `done`. */
  dueAt: Date | null;
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
    | 'phase'
    | 'channel'
    | 'from'
    | 'senderId'
    | 'encryptedCode'
    | 'attempts'
    | 'attemptNumber'
    | 'claimedAt'
    | 'claimedUntil'
    | 'receiptUntil'
    | 'dueAt'
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

/** Whether a call, or the failure that follows without one, is still to come. */
export function isDelivering({ phase }: Pick<Send, 'phase'>): boolean {
  return phase !== 'unconfirmed' && phase !== 'done';
}

/** Whether this attempt of the send is under way. */
export function isUnderWay(send: Pick<Send, 'attemptNumber' | 'claimedUntil'>, attempt: number): boolean {
  return send.claimedUntil !== null && send.attemptNumber === attempt;
}

/** What ends the claim of the attempt under way. */
export const UNCLAIMED = { claimedAt: null, claimedUntil: null } as const;

/** What ends the delivery: nothing is sent any more, so the code is erased. A call under way keeps its claim until its outcome is written. */
export const DONE = { phase: 'done', encryptedCode: null, dueAt: null } as const satisfies SendChange;
