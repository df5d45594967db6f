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
  hasArrived,
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
  /** For `failed`: the meaning of the provider's error; null otherwise. */
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

/** A send before a receipt is applied, and the policy for another call. */
export interface BeforeReceipt {
  send: Send;
  now: Date;
  /** The outcomes of the send's ended attempts, by their numbers. */
  outcomes: ReadonlyMap<number, AttemptOutcome>;
  policy: RetryPolicy;
}

/**
 * How many failures reported by an account's own app count in a month (UTC): `atLeast`, or the `share` of the units that the account has
 * used in the month, if that is more. Such an app can report any message as failed, and each failure refunds a unit. WhatsApp rejects far
 * fewer than one message in four.
 */
export const OWN_FAILURES = { atLeast: 5, share: 0.25 } as const;

/** Receipts are applied in the order of `DELIVERY_STATES`, and a status only moves forward: a message that arrived does not fail. */
const rank = (status: DeliveryState): number => DELIVERY_STATES.indexOf(status);

/**
 * Folds all stored receipts of one send into one change, using `decideReceipt` for each. The price is that of an accepted message, once one
 * has arrived.
 *
 * @param isPriced whether the cost of the send's message has already been counted
 */
export function foldReceipts(
  before: BeforeReceipt,
  receipts: readonly AttemptReceipt[],
  isPriced: boolean,
): Changes {
  const outcomes = new Map(before.outcomes);
  const attempts = new Map<number, AttemptChange>();
  let after = before.send;
  let change: SendChange | undefined;
  const ordered = receipts.toSorted(
    ({ receipt: a }, { receipt: b }) =>
      rank(a.status) - rank(b.status) || a.occurredAt.getTime() - b.occurredAt.getTime(),
  );
  for (const one of ordered) {
    const decided = decideReceipt({ ...before, send: after, outcomes }, one);
    if (decided.change !== undefined) {
      change = { ...change, ...decided.change };
      after = { ...before.send, ...change };
    }
    for (const ended of decided.attempts ?? []) {
      attempts.set(ended.number, ended);
      outcomes.set(ended.number, ended.outcome);
    }
  }
  const prices = receipts.flatMap(({ receipt, attempt }) =>
    outcomes.get(attempt.number) === 'accepted' ? (receipt.pricing ?? []) : [],
  );
  const pricing = hasArrived(after) && !isPriced ? prices[0] : undefined;
  return { change, attempts: [...attempts.values()], pricing };
}

/**
 * Returns the changes after a receipt. Receipts arrive in any order:
 *
 * - `sent`, `delivered`, `read`: the attempt was accepted. The status only moves forward, and a late receipt still sets its own time.
 * - `failed`: the attempt failed, and `afterFailure` decides about the send. After delivery or a right code, the report is only recorded.
 * - `sent` or `failed` for an attempt that has already failed is ignored: it does not undo the failure or cause another call.
 *
 * A failure means the same as the same error in the response to a call. If the code is sent again, the status `sent` does not change.
 */
export function decideReceipt(before: BeforeReceipt, { receipt, attempt }: AttemptReceipt): Changes {
  const { status, failure: failed, messageId, occurredAt } = receipt;
  const outcome = before.outcomes.get(attempt.number);
  if (isUndelivered(outcome) && (status === 'sent' || status === 'failed')) return {};
  // The provider has the message, so an attempt without a response was accepted.
  const accepted = { outcome: 'accepted', errorCode: null, messageId } as const;
  if (status !== 'failed') {
    const { change, attempts = [] } = moveForward(before, status, occurredAt, attempt.number);
    return {
      change,
      attempts: outcome === 'accepted' ? attempts : [endAttempt(attempt, accepted), ...attempts],
    };
  }
  if (failed === null) return {};

  const { kind, errorCode } = failed;
  const report = { at: occurredAt < before.now ? occurredAt : before.now, errorCode };
  if (!mayFail(before.send)) return { attempts: [endAttempt(attempt, { ...accepted, report })] };
  return {
    change: afterFailure(before, failed, attempt.number),
    attempts: [endAttempt(attempt, { outcome: kind, errorCode, messageId, report })],
  };
}

/** Returns the changes after a report of progress, except for the end of its own attempt. */
function moveForward(
  { send, now, policy }: BeforeReceipt,
  reported: 'sent' | 'delivered' | 'read',
  occurredAt: Date,
  attempt: number,
): Changes {
  const field = ({ sent: 'sentAt', delivered: 'deliveredAt', read: 'readAt' } as const)[reported];
  const time = clampTime(send, now, field, occurredAt);
  const isForward = reported === 'sent' ? isDelivering(send) : rank(reported) > rank(send.status);
  const forward = reported === 'sent' ? acceptance(send, now, time) : { ...DONE, status: reported };
  // A receipt of an earlier attempt ends the call in progress, which may still deliver its message.
  const endsCall = isForward && send.phase === 'calling' && !isInProgress(send, attempt);
  const change: SendChange = {
    ...(send[field] === null && send.status !== 'failed' && { [field]: time }),
    ...(isForward && forward),
    ...(endsCall && awaitReceipt(now, policy)),
  };
  return {
    change: Object.keys(change).length > 0 ? change : undefined,
    attempts: endsCall ? [endedAttempt(send, { outcome: 'unknown' })] : [],
  };
}

/** Returns whether a failure can still count. A right code suggests that the message arrived. */
const mayFail = ({ status, verification }: Send): boolean =>
  rank(status) <= rank('sent') && verification !== 'verified';

/** Returns the change of a send after the failure of one of its messages; undefined if another message or call decides about the send. */
function afterFailure(
  { send, now, outcomes, policy }: BeforeReceipt,
  failed: NonNullable<Receipt['failure']>,
  attempt: number,
): SendChange | undefined {
  const others = [...outcomes].filter(([number]) => number !== attempt);
  if (others.some(([, outcome]) => outcome === 'accepted')) return undefined;
  if (isDelivering(send) && !isInProgress(send, attempt)) {
    // Another call is in progress.
    if (send.phase === 'calling') return undefined;
    // Another call follows, or the send is giving up. Only a failure because of the recipient decides now: no sender can reach them.
    if (failed.kind !== 'recipient') return undefined;
  }
  const failedNow = failure('rejected_by_provider', now);
  // No other call: the code is erased.
  if (send.phase === 'done') return failedNow;

  const isRetryable = failed.kind === 'retry' || isSenderFailure(failed);
  const next = isActive(send, now) && isRetryable ? nextCall(send, now, failed, policy) : null;
  // The message of a later attempt may still arrive: the send fails after the time for its receipt.
  const isLaterUnknown = others.some(([number, outcome]) => outcome === 'unknown' && number > attempt);
  return next ?? (isLaterUnknown ? awaitLastReceipt(send, now) : null) ?? failedNow;
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

/** Returns whether an attempt's message is known not to have been delivered. @param outcome undefined while the call is in progress */
export function isUndelivered(outcome: AttemptOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== 'accepted' && outcome !== 'unknown';
}

/** Returns the first attempt that these changes end with a reported failure, even if another message or call decides about the send. */
export function findFailedAttempt({ attempts = [] }: Changes): AttemptChange | undefined {
  return attempts.find(({ outcome, report }) => report !== undefined && outcome !== 'accepted');
}

/**
 * Returns the provider's time (another clock, in whole seconds), limited to the times of the earlier and later steps, and not in the
 * future.
 */
function clampTime(send: Send, now: Date, field: 'sentAt' | 'deliveredAt' | 'readAt', at: Date): Date {
  const { createdAt, sentAt, deliveredAt, readAt } = send;
  const [min, max] = (
    {
      sentAt: [sentAt ?? createdAt, deliveredAt ?? readAt ?? now],
      deliveredAt: [sentAt ?? createdAt, readAt ?? now],
      readAt: [deliveredAt ?? sentAt ?? createdAt, now],
    } as const
  )[field];
  return new Date(Math.max(min.getTime(), Math.min(max.getTime(), at.getTime())));
}
