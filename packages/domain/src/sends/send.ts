import type { MessageStatus, Outcome } from './outcome.js';

export type Mode = 'test' | 'live';
export type Locale = 'pt-BR' | 'en';
export const DELIVERY_STATES = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** The code's state as stored. `expired` is never stored: `verificationAt` computes it from the clock. */
export type StoredVerification = 'pending' | 'verified' | 'locked';
export type Verification = StoredVerification | 'expired';
export const FAILURE_REASONS = [
  'expired_before_delivery',
  'attempts_exhausted',
  'rejected_by_provider',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];
/**
 * The phase of a send's delivery. `docs/lifecycle.md` has the table of transitions.
 *
 * - `ready`: a worker may claim it
 * - `waiting`: it gets a sender at its account's turn, or fails at its deadline; `docs/lifecycle.md` has the reasons
 * - `calling`: a worker calls the provider; the outcome decides the next phase
 * - `backing_off`: another call follows when it is due
 * - `giving_up`: no call follows; it fails when it is due, unless a receipt reports a message as sent, delivered or read
 * - `unconfirmed`: the provider accepted a message; a receipt may still cause another call
 * - `done`: nothing more is sent
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
/** The bucket that paid for a live send. */
export type UnitBucket = 'free_quota' | 'credit';
export type Channel = 'sandbox' | 'whatsapp';

/** The fields of a send that a delivery decision may change. */
interface Delivery {
  status: DeliveryState;
  channel: Channel | null;
  /** The sender's E.164 number. */
  from: string | null;
  senderId: string | null;
  phase: Phase;
  /** Set for a live send until it is `done`. */
  encryptedCode: Uint8Array | null;
  /** Calls to the provider that count against the limit. */
  attempts: number;
  /** The number of the latest call; 0 before the first. */
  attemptNumber: number;
  /**
   * When the worker claimed the send for that call, and when its lease ends; null unless the send is `calling`. No other worker may claim it
   * during the lease. The call starts up to half a second later, at the time of its permit.
   */
  claimedAt: Date | null;
  claimedUntil: Date | null;
  /** When the wait for the receipt of an attempt with an unknown outcome ends; null without such an attempt. */
  receiptUntil: Date | null;
  /** When a worker must act on the delivery, at a turn also earlier; null if the send is `unconfirmed` or `done`. */
  dueAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  readAt: Date | null;
  failedAt: Date | null;
  failureReason: FailureReason | null;
}

export type SendChange = Partial<Delivery>;

/** One code to one recipient, as stored. Times are from the database's clock. */
export interface Send extends Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly applicationId: string;
  readonly mode: Mode;
  /** E.164. */
  readonly recipient: string;
  /** An ISO 3166 code, or `NO_COUNTRY`. */
  readonly country: string;
  readonly locale: Locale;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The request that created it. */
  readonly requestId: string;
  /** The trace of its creation, as W3C `traceparent`; null without one. */
  readonly traceparent: string | null;
  verification: StoredVerification;
  verifiedAt: Date | null;
}

export type AttemptOutcome = Outcome['kind'];

/** The ended attempt that a decision writes, in the same statement as the send. */
export interface AttemptChange {
  number: number;
  senderId: string | null;
  startedAt: Date;
  outcome: AttemptOutcome;
  errorCode: number | null;
  messageId: string | null;
  messageStatus?: MessageStatus | undefined;
  /** A receipt's report that the message was not delivered, even if the failure does not count. */
  report?: { at: Date; errorCode: number | null };
}

/**
 * The price of a message, in the provider's words, for example `authentication`, `regular`, `PMP`. It is counted once per send, on the day
 * when the message arrived.
 */
export interface Pricing {
  category: string;
  type: string;
  billable: boolean;
  model: string;
}

/** The changes that a pure rule decides. They are written in one statement. */
export interface Changes {
  change?: SendChange | undefined;
  attempts?: AttemptChange[];
  /** The price of the message, if these changes are the first to report it. */
  pricing?: Pricing | undefined;
}

/** The decision of a pure rule: a result for the caller, and the changes. */
export interface Decision<R> extends Changes {
  result: R;
}

/** Returns whether a call is in progress or to come, or the send is giving up. */
export function isDelivering({ phase }: Pick<Send, 'phase'>): boolean {
  return phase !== 'unconfirmed' && phase !== 'done';
}

/** Returns whether a receipt has confirmed that the message is on the recipient's phone. */
export const hasArrived = ({ status }: Pick<Send, 'status'>): boolean =>
  status === 'delivered' || status === 'read';

/** Returns whether this attempt of the send is in progress. */
export function isInProgress(send: Pick<Send, 'attemptNumber' | 'phase'>, attempt: number): boolean {
  return send.phase === 'calling' && send.attemptNumber === attempt;
}

/** Ends the claim of the attempt in progress. */
export const UNCLAIMED = { claimedAt: null, claimedUntil: null } as const;

/** Ends the delivery: nothing more is sent, so the code is erased. */
export const DONE = {
  phase: 'done',
  encryptedCode: null,
  dueAt: null,
  ...UNCLAIMED,
} as const satisfies SendChange;

/** The sends that a hold matches. `target` is empty for `live`, an ISO 3166 code or `NO_COUNTRY`, or an account's id. */
export interface HoldTarget {
  kind: 'live' | 'country' | 'account';
  target: string;
}
