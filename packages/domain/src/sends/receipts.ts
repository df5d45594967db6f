import {
  acceptance,
  awaitLastReceipt,
  awaitReceipt,
  endedAttempt,
  failure,
  isActive,
  isSenderFailure,
  nextCall,
  type RetryPolicy,
} from './delivery.js';
import type { MessageStatus, Outcome } from './outcome.js';
import {
  DELIVERY_STATES,
  DONE,
  isDelivering,
  isInProgress,
  type AttemptChange,
  type AttemptOutcome,
  type Changes,
  type DeliveryState,
  type Pricing,
  type Send,
  type SendChange,
} from './send.js';
import { hasArrived } from './traffic.js';

/** A recipient's statement that they did not request the code in one of our messages. */
export interface Denial {
  /** The SHA-256 of the provider's id of our message; the id itself encodes the phone number. */
  messageId: string;
  /** The provider's time, in whole seconds. */
  occurredAt: Date;
}

/** The provider's report on one message. Its times are the provider's, in whole seconds. */
export interface Receipt {
  /** The SHA-256 of the provider's message id; the id itself encodes the phone number. */
  messageId: string;
  /** The attempt named in the opaque data that we sent with the message; null if that data is missing or not ours. */
  attempt: AttemptName | null;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  occurredAt: Date;
  /** For `failed`: the meaning of the provider's error; null otherwise, and if the failure is to be ignored. */
  failure: (Exclude<Outcome, { kind: 'accepted' }> & MessageEnds) | null;
  /** The price of the message; missing if the provider did not report it. */
  pricing?: Pricing;
  /** Identifies the owner of the recipient's number; missing if the sender does not request it. */
  identityHash?: string;
}

/** The sender's phone number id and all keys of the recipient, if the provider reports them. */
interface MessageEnds {
  phoneNumberId?: string;
  recipientKeys?: readonly string[];
}

/** The identifier of an attempt that is sent to the provider. */
export interface AttemptName {
  sendId: string;
  /** Starts at 1 for each send. */
  number: number;
}

/** The attempt that a receipt reports on. */
export interface ReportedAttempt {
  number: number;
  senderId: string | null;
  /** The provider's id of the sender. */
  phoneNumberId: string | null;
  startedAt: Date;
  /** Null while it is in progress. */
  outcome: AttemptOutcome | null;
  /** Null if the provider did not hold the message. */
  messageStatus: MessageStatus | null;
  /** The key of the send's recipient. */
  recipientKey: string;
}

/** A receipt with the attempt that it reports on. */
export interface AttemptReceipt {
  receipt: Receipt;
  attempt: ReportedAttempt;
}

/**
 * How many failures reported by an account's own app count in a month (UTC). Such an app can report any message as failed, and each failure
 * refunds a unit. WhatsApp rejects far fewer than one message in four.
 */
export const OWN_FAILURES = { atLeast: 5, share: 0.25 } as const;

/** Receipts are applied in the order of `DELIVERY_STATES`, and a status only moves forward: a message that arrived does not fail. */
const rank = (status: DeliveryState): number => DELIVERY_STATES.indexOf(status);

/**
 * Folds all stored receipts of one send into one change, using `decideReceipt` for each. The price is that of a message that has arrived.
 *
 * @param outcomes the numbers and outcomes of the send's ended attempts
 * @param isPriced whether the cost of the send's message has already been counted
 * @param random a number from 0 up to, not including, 1
 */
export function foldReceipts(
  send: Send,
  now: Date,
  receipts: readonly AttemptReceipt[],
  { outcomes, isPriced }: { outcomes: readonly [number: number, AttemptOutcome][]; isPriced: boolean },
  policy: RetryPolicy,
  random: number,
): Changes {
  const known = new Map(outcomes);
  const attempts = new Map<number, AttemptChange>();
  let after = send;
  let change: SendChange | undefined;
  const ordered = receipts.toSorted(
    ({ receipt: a }, { receipt: b }) =>
      rank(a.status) - rank(b.status) || a.occurredAt.getTime() - b.occurredAt.getTime(),
  );
  for (const { receipt, attempt } of ordered) {
    const reported = { ...attempt, outcome: known.get(attempt.number) ?? null };
    const decided = decideReceipt(after, now, receipt, reported, known, policy, random);
    if (decided.change !== undefined) {
      change = { ...change, ...decided.change };
      after = { ...send, ...change };
    }
    for (const ended of decided.attempts ?? []) {
      attempts.set(ended.number, ended);
      known.set(ended.number, ended.outcome);
    }
  }
  const prices = receipts.flatMap(({ receipt, attempt }) =>
    known.get(attempt.number) === 'accepted' ? (receipt.pricing ?? []) : [],
  );
  const pricing = hasArrived(after) && !isPriced ? prices[0] : undefined;
  return { change, attempts: [...attempts.values()], pricing };
}

/**
 * Returns the changes after a receipt; none if it is ignored. Receipts arrive in any order: the status only moves forward, and a late
 * receipt still sets its own time. A failure counts only before delivery is confirmed (see `afterFailure`). It means the same as the same
 * error in the response to a call; if the code is sent again, the status `sent` does not change.
 *
 * @param outcomes the numbers and outcomes of the send's ended attempts
 * @param random a number from 0 up to, not including, 1
 */
export function decideReceipt(
  send: Send,
  now: Date,
  receipt: Receipt,
  attempt: ReportedAttempt,
  outcomes: ReadonlyMap<number, AttemptOutcome>,
  policy: RetryPolicy,
  random: number,
): Changes {
  const { status, failure: failed, messageId, occurredAt } = receipt;
  // A late `sent` receipt does not undo the failure, and a repeated failure must not cause another call.
  if (isUndelivered(attempt) && (status === 'sent' || status === 'failed')) return {};
  if (status !== 'failed') return moveForward(send, now, receipt, status, attempt, policy);
  if (failed === null) return {};

  const { kind: outcome, errorCode } = failed;
  const report = { at: occurredAt < now ? occurredAt : now, errorCode };
  if (!mayFail(send))
    return { attempts: [endAttempt(attempt, { outcome: 'accepted', errorCode: null, messageId, report })] };
  return {
    change: afterFailure(send, now, failed, attempt, outcomes, policy, random),
    attempts: [endAttempt(attempt, { outcome, errorCode, messageId, report })],
  };
}

/**
 * Returns the change of a send after the failure of one of its messages; undefined if another message or call decides about the send. The
 * first case that applies counts:
 *
 * - another message was accepted, or another call is in progress: undefined
 * - another call follows, or the send is giving up: undefined, except for a failure because of the recipient, which no sender can reach
 * - the code ended, and is erased: the send fails
 * - the code is active, and the fault is temporary or the sender's: the code is sent again
 * - a later attempt has an unknown outcome: the send gives up, and fails after the time for the receipt of that attempt
 * - otherwise: the send fails
 */
function afterFailure(
  send: Send,
  now: Date,
  failed: NonNullable<Receipt['failure']>,
  attempt: ReportedAttempt,
  outcomes: ReadonlyMap<number, AttemptOutcome>,
  policy: RetryPolicy,
  random: number,
): SendChange | undefined {
  const isOtherPending = isDelivering(send) && !isInProgress(send, attempt.number);
  const canOtherDecide = send.phase === 'calling' || failed.kind !== 'recipient';
  const others = [...outcomes].filter(([number]) => number !== attempt.number);
  const isOtherAccepted = others.some(([, outcome]) => outcome === 'accepted');
  if (isOtherAccepted || (isOtherPending && canOtherDecide)) return undefined;

  const failedNow = failure('rejected_by_provider', now);
  if (send.phase === 'done') return failedNow;
  const isRetryable = failed.kind === 'retry' || isSenderFailure(failed);
  const next = isActive(send, now) && isRetryable ? nextCall(send, now, failed, policy, random) : null;
  const isLaterUnknown = others.some(([number, outcome]) => outcome === 'unknown' && number > attempt.number);
  return next ?? (isLaterUnknown ? awaitLastReceipt(send, now) : null) ?? failedNow;
}

/** Returns whether a failure can still count. A right code proves that the message arrived. */
const mayFail = ({ status, verification }: Send): boolean =>
  rank(status) <= rank('sent') && verification !== 'verified';

function moveForward(
  send: Send,
  now: Date,
  { messageId, occurredAt }: Receipt,
  reported: 'sent' | 'delivered' | 'read',
  attempt: ReportedAttempt,
  policy: RetryPolicy,
): Changes {
  const field = ({ sent: 'sentAt', delivered: 'deliveredAt', read: 'readAt' } as const)[reported];
  const time = clampTime(send, now, field, occurredAt);
  const isForward = reported === 'sent' ? isDelivering(send) : rank(reported) > rank(send.status);
  const forward = reported === 'sent' ? acceptance(send, now, time) : { ...DONE, status: reported };
  // A receipt of an earlier attempt ends the call in progress, of which the message may still arrive.
  const endsCall = isForward && send.phase === 'calling' && !isInProgress(send, attempt.number);
  const change: SendChange = {
    ...(send[field] === null && send.status !== 'failed' && { [field]: time }),
    ...(isForward && forward),
    ...(endsCall && awaitReceipt(now, policy)),
  };
  // The provider has the message, so an attempt without a response was accepted.
  const attempts =
    attempt.outcome === 'accepted'
      ? []
      : [endAttempt(attempt, { outcome: 'accepted', errorCode: null, messageId })];
  if (endsCall) attempts.push(endedAttempt(send, { outcome: 'unknown' }));
  return { change: Object.keys(change).length > 0 ? change : undefined, attempts };
}

/** Returns the attempt with the end that a receipt reports. */
function endAttempt(
  { number, senderId, startedAt }: ReportedAttempt,
  end: Omit<AttemptChange, 'number' | 'senderId' | 'startedAt'>,
): AttemptChange {
  return { number, senderId, startedAt, ...end };
}

/** Returns whether a failure names its attempt's sender and recipient. The recipient's number may have another form, with the same key. */
export function agreesWith(
  { phoneNumberId, recipientKeys }: MessageEnds,
  attempt: Pick<ReportedAttempt, 'phoneNumberId' | 'recipientKey'>,
): boolean {
  return (
    (phoneNumberId === undefined || phoneNumberId === attempt.phoneNumberId) &&
    (recipientKeys === undefined || recipientKeys.includes(attempt.recipientKey))
  );
}

/** Returns whether the attempt's message is known not to have been delivered. */
export function isUndelivered({ outcome }: Pick<ReportedAttempt, 'outcome'>): boolean {
  return outcome !== null && outcome !== 'accepted' && outcome !== 'unknown';
}

/**
 * Returns the provider's time (another clock, in whole seconds), limited to the times of the earlier and later steps, and not in the
 * future.
 */
function clampTime(send: Send, now: Date, field: 'sentAt' | 'deliveredAt' | 'readAt', at: Date): Date {
  const { createdAt, sentAt, deliveredAt, readAt } = send;
  const [min, max] = (
    {
      sentAt: [createdAt, deliveredAt ?? readAt ?? now],
      deliveredAt: [sentAt ?? createdAt, readAt ?? now],
      readAt: [deliveredAt ?? sentAt ?? createdAt, now],
    } as const
  )[field];
  return new Date(Math.max(min.getTime(), Math.min(max.getTime(), at.getTime())));
}
