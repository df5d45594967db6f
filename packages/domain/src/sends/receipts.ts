import { acceptance, endedAttempt, failure, isSenderFailure, isWorthSending } from './delivery.js';
import type { MessageStatus, Outcome } from './outcome.js';
import { isPairLimit, receiptWaitMs, retryDelayMs, type RetryPolicy } from './retry.js';
import {
  DONE,
  isDelivering,
  isInProgress,
  UNCLAIMED,
  type AttemptChange,
  type AttemptOutcome,
  type Decision,
  type DeliveryState,
  type Send,
  type SendChange,
} from './send.js';

/** The provider's report on one message. Its times are the provider's, in whole seconds. */
export interface Receipt {
  /** Replaces the provider's message id, which encodes the phone number. */
  messageId: string;
  /** The attempt that we named as opaque data; null if it is missing or not ours. */
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

/** The price of a message, in the provider's words, for example `authentication`, `regular`, `PMP`. */
export interface Pricing {
  category: string;
  type: string;
  billable: boolean;
  model: string;
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

/** An attempt, with the facts about the send's other attempts that the rule needs. */
type JudgedAttempt = ReportedAttempt & {
  /**
   * False if the account's own app has used up the failures that `OWN_FAILURES` allows: the failure is recorded, but changes nothing.
   */
  isBelieved?: boolean;
  /** Whether the provider accepted another message of the send, which may still arrive. */
  otherIsAccepted: boolean;
};

/** A receipt with the attempt that it reports on. */
export interface AttemptReceipt {
  receipt: Receipt;
  attempt: ReportedAttempt;
  /** See `JudgedAttempt`. */
  isBelieved?: boolean;
}

/** The price of a message. It is counted once per send, on the day when the message arrived. */
export interface MessageCost {
  pricing: Pricing;
  arrivedAt: Date;
  senderId: string | null;
}

/**
 * How many failures reported by an account's own app count in a month (UTC). Such an app can report any message as failed, and each failure
 * refunds a unit. WhatsApp rejects far fewer than one message in four.
 */
export const OWN_FAILURES = { atLeast: 5, share: 0.25 } as const;

/** The result of a receipt. `redelivers`: the send must be sent again; `later`: another attempt has to end first. */
export type ReceiptEnd = 'applied' | 'redelivers' | 'ignored' | 'later';

/** The states that receipts report, in order. Earlier states have index -1. */
const PROGRESS: readonly DeliveryState[] = ['sent', 'delivered', 'read'];

/** The order in which the receipts of one send are applied: progress before failures, so that an arrived message does not fail. */
const ORDER: readonly Receipt['status'][] = ['sent', 'delivered', 'read', 'failed'];

/**
 * Folds all stored receipts of one send into one change, by `decideReceipt`.
 *
 * @param acceptedNumbers the numbers of the send's attempts that the provider accepted
 * @param isPriced whether the cost of the send's message is counted already
 * @param random a number from 0 up to, not including, 1
 * @returns the result of each receipt, in the given order
 */
export function foldReceipts(
  send: Send,
  now: Date,
  receipts: readonly AttemptReceipt[],
  { acceptedNumbers, isPriced }: { acceptedNumbers: readonly number[]; isPriced: boolean },
  policy: RetryPolicy,
  random: number,
): Decision<ReceiptEnd[]> & { cost?: MessageCost } {
  const accepted = new Set(acceptedNumbers);
  const attempts = new Map<number, AttemptChange>();
  const result: ReceiptEnd[] = [];
  let after = send;
  let change: SendChange | undefined;
  const ordered = [...receipts.entries()].toSorted(
    ([, { receipt: a }], [, { receipt: b }]) =>
      ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || a.occurredAt.getTime() - b.occurredAt.getTime(),
  );
  for (const [index, { receipt, attempt, isBelieved = true }] of ordered) {
    const outcome = attempts.get(attempt.number)?.outcome ?? attempt.outcome;
    const otherIsAccepted = [...accepted].some((number) => number !== attempt.number);
    const judged = { ...attempt, outcome, otherIsAccepted, isBelieved };
    const decision = decideReceipt(after, now, receipt, judged, policy, random);
    result[index] = decision.result;
    if (decision.change !== undefined) {
      change = { ...change, ...decision.change };
      after = { ...send, ...change };
    }
    for (const ended of decision.attempts ?? []) {
      attempts.set(ended.number, ended);
      if (ended.outcome === 'accepted') accepted.add(ended.number);
      else accepted.delete(ended.number);
    }
  }
  const hasArrived = after.status === 'delivered' || after.status === 'read';
  const cost = hasArrived && !isPriced ? findCost(receipts, accepted, now) : undefined;
  return {
    result,
    ...(change !== undefined && { change }),
    attempts: [...attempts.values()],
    ...(cost !== undefined && { cost }),
  };
}

/** Returns the cost of a message that arrived, from the first of its receipts with a price. */
function findCost(
  receipts: readonly AttemptReceipt[],
  accepted: ReadonlySet<number>,
  now: Date,
): MessageCost | undefined {
  const arrivals = receipts.filter(({ receipt: { status } }) => status === 'delivered' || status === 'read');
  const arrivedAt =
    arrivals.length === 0
      ? now.getTime()
      : Math.min(...arrivals.map(({ receipt }) => receipt.occurredAt.getTime()));
  const priced = receipts.find(
    ({ receipt, attempt }) => receipt.pricing !== undefined && accepted.has(attempt.number),
  );
  return (
    priced?.receipt.pricing && {
      pricing: priced.receipt.pricing,
      arrivedAt: new Date(arrivedAt),
      senderId: priced.attempt.senderId,
    }
  );
}

/**
 * Applies a receipt. Receipts arrive in any order: the status only moves forward, and a late receipt still sets its own time. A failure
 * counts only before delivery is confirmed and while no other message of the send may still arrive. If that depends on an attempt in
 * progress, the receipt waits until the attempt ends or, because the worker may have died, until its claim expires.
 *
 * A reported failure means the same as the same error in the response to a call. If it is not about the recipient or the request, the send
 * is sent again while its code is active; the status `sent` does not change.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function decideReceipt(
  send: Send,
  now: Date,
  receipt: Receipt,
  { isBelieved = true, ...attempt }: JudgedAttempt,
  policy: RetryPolicy,
  random: number,
): Decision<ReceiptEnd> {
  if (receipt.status !== 'failed') return moveForward(send, now, receipt, receipt.status, attempt);
  const failed = receipt.failure;
  if (failed === null) return { result: 'ignored' };
  const report = { at: receipt.occurredAt < now ? receipt.occurredAt : now, errorCode: failed.errorCode };
  // A right code proves that the message arrived.
  if (!mayFail(send) || !isBelieved) {
    // A call without a response was accepted, because the provider reports on its message.
    const outcome = attempt.outcome ?? 'accepted';
    return {
      result: 'ignored',
      attempts: [endAttempt(attempt, { outcome, errorCode: null, messageId: receipt.messageId, report })],
    };
  }
  // A repeated failure receipt must not cause another resend.
  if (isUndelivered(attempt) && failed.kind !== 'recipient') return { result: 'ignored' };
  // In phase `calling`, the send is claimed again when the other attempt's lease ends. In any other phase, the receipt has to wait for
  // that attempt.
  const otherMayBeUnderWay =
    send.claimedUntil !== null &&
    send.attemptNumber !== attempt.number &&
    (send.phase === 'calling' || now < send.claimedUntil);
  if (otherMayBeUnderWay && send.phase !== 'calling') return { result: 'later' };
  const attempts: AttemptChange[] = [
    endAttempt(attempt, {
      outcome: failed.kind,
      errorCode: failed.errorCode,
      messageId: receipt.messageId,
      report,
    }),
  ];
  if (attempt.otherIsAccepted || otherMayBeUnderWay) return { result: 'applied', change: {}, attempts };
  const isBeforeNext =
    isDelivering(send) && !isInProgress(send, attempt.number) && failed.kind !== 'recipient';
  if (isBeforeNext) return { result: 'applied', change: {}, attempts };
  const change = redelivery(send, now, failed, policy, random);
  // Sending again and failing both end the claim. If another attempt holds it, that attempt's worker has died, and its message may still
  // arrive.
  if (send.claimedUntil !== null && send.attemptNumber !== attempt.number) {
    attempts.push(endedAttempt(send, { outcome: 'unknown' }));
    if (change !== null) change.receiptUntil = new Date(now.getTime() + receiptWaitMs(policy));
  }
  return change === null
    ? { result: 'applied', change: failure('rejected_by_provider', now), attempts }
    : { result: 'redelivers', change, attempts };
}

/** Returns whether a failure reported now can still count. */
export const mayFail = ({ status, verification }: Pick<Send, 'status' | 'verification'>): boolean =>
  (status === 'queued' || status === 'sending' || status === 'sent') && verification !== 'verified';

function moveForward(
  send: Send,
  now: Date,
  receipt: Receipt,
  reported: 'sent' | 'delivered' | 'read',
  attempt: ReportedAttempt,
): Decision<ReceiptEnd> {
  // The message was sent before it failed; this late receipt changes nothing.
  if (reported === 'sent' && isUndelivered(attempt)) return { result: 'ignored' };
  const isForward =
    send.status !== 'failed' &&
    (PROGRESS.indexOf(reported) > PROGRESS.indexOf(send.status) ||
      (reported === 'sent' && isDelivering(send)));
  const change: SendChange = !isForward
    ? {}
    : reported === 'sent'
      ? acceptance(send, now, clampTime(send, now, 'sentAt', receipt.occurredAt))
      : { ...DONE, status: reported };
  const field = ({ sent: 'sentAt', delivered: 'deliveredAt', read: 'readAt' } as const)[reported];
  if (send[field] === null && change[field] === undefined && send.status !== 'failed')
    change[field] = clampTime(send, now, field, receipt.occurredAt);
  // The provider has the message, so an attempt without a response was accepted.
  const attempts: AttemptChange[] =
    attempt.outcome === 'accepted'
      ? []
      : [endAttempt(attempt, { outcome: 'accepted', errorCode: null, messageId: receipt.messageId })];
  if (Object.keys(change).length === 0 && attempts.length === 0) return { result: 'ignored' };
  return { result: 'applied', change, attempts };
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

/** Returns the change that sends a failed message again; null if that cannot help or is too late. */
function redelivery(
  send: Send,
  now: Date,
  failed: NonNullable<Receipt['failure']>,
  policy: RetryPolicy,
  random: number,
): SendChange | null {
  if (send.encryptedCode === null || send.verification !== 'pending' || !isWorthSending(send, now))
    return null;
  const isOfSender = isSenderFailure(failed);
  const attempts = isOfSender || isPairLimit(failed) ? Math.max(0, send.attempts - 1) : send.attempts;
  if (isOfSender) return { phase: 'ready', ...UNCLAIMED, attempts, dueAt: now };
  if (failed.kind !== 'retry' || attempts >= policy.attemptsMax) return null;
  const retryAt = new Date(now.getTime() + retryDelayMs(policy, send, failed, random));
  const dueAt = retryAt < send.expiresAt ? retryAt : send.expiresAt;
  return { phase: 'backing_off', ...UNCLAIMED, attempts, dueAt };
}

/**
 * Returns the provider's time (another clock, in whole seconds), limited to the times of the earlier and later steps, and not in the
 * future.
 */
function clampTime(send: Send, now: Date, field: 'sentAt' | 'deliveredAt' | 'readAt', at: Date): Date {
  const earlier = { sentAt: [], deliveredAt: [send.sentAt], readAt: [send.deliveredAt, send.sentAt] }[field];
  const later = { sentAt: [send.deliveredAt, send.readAt], deliveredAt: [send.readAt], readAt: [] }[field];
  const min = earlier.find((time) => time !== null) ?? send.createdAt;
  const max = later.find((time) => time !== null) ?? now;
  return new Date(Math.max(min.getTime(), Math.min(max.getTime(), at.getTime())));
}
