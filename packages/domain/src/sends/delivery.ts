import { NO_RESPONSE, PROVIDER_WAIT_MS_MAX, type Outcome } from './outcome.js';
import {
  DONE,
  isDelivering,
  isInProgress,
  UNCLAIMED,
  type AttemptChange,
  type Decision,
  type FailureReason,
  type Send,
  type SendChange,
} from './send.js';
import { verificationAt } from './verification.js';

/** How many times a delivery is attempted, and the first step of its back-off. */
export interface RetryPolicy {
  attemptsMax: number;
  backoffMs: number;
}

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms);
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** Returns the change for a final failure. The store refunds the unit in the same statement. */
export function failure(reason: FailureReason, now: Date): SendChange {
  return { ...DONE, status: 'failed', failureReason: reason, failedAt: now };
}

/** Returns the change for the provider's acceptance. While the code is active, a receipt may still cause another attempt. */
export function acceptance(send: Send, now: Date, sentAt = now): SendChange {
  const next = isActive(send, now) ? ({ phase: 'unconfirmed', dueAt: null, ...UNCLAIMED } as const) : DONE;
  return { status: 'sent', sentAt, ...next };
}

/** Returns whether the code can still be verified. */
export function isActive(send: Send, now: Date): boolean {
  return verificationAt(send, now) === 'pending';
}

/** How a delivery of a send ended: the send failed for a reason, or one of these. */
export type DeliveryEnd =
  | FailureReason
  | 'accepted'
  /** The test send was simulated. */
  | 'read'
  /** The send is due again after its back-off; after a fault of the sender immediately, for another sender. */
  | 'retry'
  /** Nothing can be sent now: the send waits for a sender or a turn, or for the end of a lease, a back-off or the time for a receipt. */
  | 'waiting'
  /** Nothing is written: the lease has ended or could end during the call, the code has expired, or a receipt was faster. */
  | 'stale'
  /**
   * This job has nothing to send: a message was accepted, the send failed or does not exist, another job of the same batch took it, or
   * another transaction has locked it.
   */
  | 'done';

/** Returns the change that delivers a test send: it is `read` immediately, and no message is sent. */
export function simulateDelivery(send: Send, now: Date): Decision<DeliveryEnd> {
  if (!isDelivering(send)) return { result: 'done' };
  const times = { sentAt: now, deliveredAt: now, readAt: now };
  return { result: 'read', change: { ...DONE, status: 'read', channel: 'sandbox', ...times } };
}

/**
 * Postpones or fails a live send that was not claimed:
 *
 * - A send that is not due does not change.
 * - A call with an expired lease ends with an unknown outcome.
 * - A send with an active code was not claimed because its code is about to expire. It waits until its deadline.
 * - Any other send fails, including one in `giving_up`. If one of its messages may have been sent, it fails only after the time for that
 *   message's receipt.
 */
export function postponeOrFail(send: Send, now: Date, policy: RetryPolicy): Decision<DeliveryEnd> {
  if (!isDelivering(send)) return { result: 'done' };
  const dueAt = Math.max(Number(send.dueAt), Number(send.claimedUntil));
  if (dueAt > Number(now)) return { result: 'waiting' };
  if (send.phase === 'calling') return settle(send, now, send.attemptNumber, NO_RESPONSE, policy);

  if (isActive(send, now) && send.phase !== 'giving_up')
    return { result: 'waiting', change: { phase: 'waiting', dueAt: send.expiresAt } };
  return giveUp(send, now, policy);
}

/**
 * Ends a send without another call. Its code is finished or expired, it has used all attempts, or a message was rejected while another one
 * could still arrive. It fails now, or after the time for the receipt of a message that may have been sent.
 */
function giveUp(send: Send, now: Date, policy: RetryPolicy): Decision<DeliveryEnd> {
  const wait = awaitLastReceipt(send, now);
  if (wait !== null) return { result: 'waiting', change: wait };
  const ofActive = send.attempts < policy.attemptsMax ? 'rejected_by_provider' : 'attempts_exhausted';
  const reason = isActive(send, now) ? ofActive : 'expired_before_delivery';
  return { result: reason, change: failure(reason, now) };
}

/**
 * Returns the change of a send that waits for the receipt of an attempt with an unknown outcome, and gets no other call. Returns null if it
 * has no such attempt, or if the time for the receipt is over.
 */
export function awaitLastReceipt({ receiptUntil }: Send, now: Date): SendChange | null {
  const mayStillArrive = receiptUntil !== null && now < receiptUntil;
  return mayStillArrive ? { phase: 'giving_up', dueAt: receiptUntil, ...UNCLAIMED } : null;
}

/** Returns the ended attempt of the claim. */
export function endedAttempt(
  { attemptNumber: number, senderId, claimedAt }: Send,
  {
    outcome,
    errorCode = null,
    messageId = null,
    messageStatus,
  }: Pick<AttemptChange, 'outcome'> & Partial<AttemptChange>,
): AttemptChange {
  return { number, senderId, startedAt: claimedAt as Date, outcome, errorCode, messageId, messageStatus };
}

/** A fault or a rate limit of a sender or its business account. */
export type SenderFailure = Extract<Outcome, { kind: 'sender' | 'config' | 'retry' }>;

/** Returns whether a fault or a rate limit of the sender or its business account prevented the message. Such an attempt is not counted. */
export function isSenderFailure(outcome: Outcome): outcome is SenderFailure {
  return (
    outcome.kind === 'sender' ||
    (outcome.kind === 'config' && outcome.scope !== 'request') ||
    (outcome.kind === 'retry' && (outcome.throttled === 'sender' || outcome.throttled === 'business'))
  );
}

/** Returns the result of an attempt's outcome, or `stale` if the attempt no longer holds its claim. */
export function settle(
  send: Send,
  now: Date,
  attempt: number,
  outcome: Outcome,
  policy: RetryPolicy,
): Decision<DeliveryEnd> {
  if (!isInProgress(send, attempt)) return { result: 'stale' };
  const unanswered = outcome.kind === 'unknown' && awaitReceipt(now, policy);
  const { result, change } = settleCall({ ...send, ...unanswered }, now, outcome, policy);
  return {
    result,
    change: { ...unanswered, ...change },
    attempts: [endedAttempt(send, { ...outcome, outcome: outcome.kind })],
  };
}

/**
 * Returns the end of the wait for the receipt of an attempt with an unknown outcome. Before that, the send fails only if the provider
 * rejects one of its messages.
 */
export function awaitReceipt(now: Date, { attemptsMax, backoffMs }: RetryPolicy): { receiptUntil: Date } {
  return { receiptUntil: after(now, Math.min(PROVIDER_WAIT_MS_MAX, backoffMs * 2 ** attemptsMax)) };
}

/** Decides by the outcome of the send's call. */
function settleCall(send: Send, now: Date, outcome: Outcome, policy: RetryPolicy): Decision<DeliveryEnd> {
  if (outcome.kind === 'accepted') return { result: 'accepted', change: acceptance(send, now) };
  if (outcome.kind === 'recipient' || (outcome.kind === 'config' && outcome.scope === 'request'))
    return { result: 'rejected_by_provider', change: failure('rejected_by_provider', now) };
  const change = nextCall(send, now, outcome, policy);
  return change === null ? giveUp(send, now, policy) : { result: 'retry', change };
}

/**
 * Returns the change for another call after a failed call or message; null if all attempts are used. The call is not made if the code is
 * finished by then. If the back-off would end after the code's deadline, the send is due at the deadline. A fault or a rate limit uses no
 * attempt.
 */
export function nextCall(send: Send, now: Date, outcome: Outcome, policy: RetryPolicy): SendChange | null {
  const isOfSender = isSenderFailure(outcome);
  const attempts = isOfSender || isPairLimit(outcome) ? Math.max(0, send.attempts - 1) : send.attempts;
  if (isOfSender) return { phase: 'ready', ...UNCLAIMED, attempts, dueAt: now };
  if (attempts >= policy.attemptsMax) return null;
  const retryAt = after(now, retryDelayMs(policy, send, outcome));
  const dueAt = earlier(retryAt, now < send.expiresAt ? send.expiresAt : now);
  return { phase: 'backing_off', ...UNCLAIMED, attempts, dueAt };
}

/**
 * Returns the milliseconds to wait after the latest attempt: exponential, or the provider's Retry-After, whichever is longer. It has no
 * jitter, because senders' permits already spread the calls. After the nth pair rate limit, Meta recommends 4^n seconds; n counts all calls
 * that used no attempt.
 */
export function retryDelayMs(
  { backoffMs }: RetryPolicy,
  { attempts, attemptNumber }: Pick<Send, 'attempts' | 'attemptNumber'>,
  outcome: Outcome,
): number {
  const baseMs = isPairLimit(outcome)
    ? 1000 * 4 ** (attemptNumber - attempts + 1)
    : backoffMs * 2 ** (attempts - 1);
  const askedMs = outcome.kind === 'retry' ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.min(PROVIDER_WAIT_MS_MAX, Math.max(baseMs, askedMs));
}

/** Returns whether a sender sent this recipient too many messages. Only this send waits, not the sender's other recipients. */
function isPairLimit(outcome: Outcome): boolean {
  return outcome.kind === 'retry' && outcome.throttled === 'pair';
}
