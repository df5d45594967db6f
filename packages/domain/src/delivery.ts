import type { Outcome } from './outcome.js';
import { retryDelayMs, settleDelayMs, type RetryPolicy } from './retry.js';
import {
  isUndelivered,
  type AttemptChange,
  type Decision,
  type FailureReason,
  type Send,
  type SendChange,
} from './send.js';
import type { SendSlot } from './senders.js';

const LIFE_SECONDS_MIN = 30;
const LIFE_SHARE_MIN = 0.1;

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms);
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** What a definitive failure changes: nothing is due any more, and the sealed code goes. The store returns the unit with it. */
export function failure(reason: FailureReason, now: Date): SendChange {
  return {
    status: 'failed',
    failureReason: reason,
    failedAt: now,
    sealedCode: null,
    attemptId: null,
    awaitingSender: false,
    dueAt: null,
  };
}

/** Whether enough of the code's life is left for somebody to receive and type it: a tenth of it, or 30 seconds if less. */
export function isWorthSending(send: Pick<Send, 'createdAt' | 'expiresAt'>, now: Date): boolean {
  const lifeMs = send.expiresAt.getTime() - send.createdAt.getTime();
  const leastMs = Math.min(LIFE_SECONDS_MIN * 1000, lifeMs * LIFE_SHARE_MIN);
  return send.expiresAt.getTime() - now.getTime() > leastMs;
}

/**
 * What it changes of a live send's delivery that its code was verified or locked: what waits, for a worker, a sender or its next
 * attempt, is looked at now, and given up by `claim`; after an attempt of unknown outcome not before its receipt had time to tell. A
 * call that is under way is let end.
 */
export function stopWaiting(send: Send, now: Date): SendChange {
  if (send.mode !== 'live' || !isUndelivered(send) || send.attemptId !== null) return {};
  const { receiptUntil } = send;
  return { awaitingSender: false, dueAt: mayStillArrive(receiptUntil, now) ? receiptUntil : now };
}

/** The end of a test send: read at once, through no sender. */
export function simulate(send: Send, now: Date): Decision<'read' | 'settled'> {
  if (send.status !== 'queued') return { result: 'settled' };
  return {
    result: 'read',
    change: {
      status: 'read',
      channel: 'sandbox',
      sentAt: now,
      deliveredAt: now,
      readAt: now,
      dueAt: null,
    },
  };
}

/** What became of a worker's wish to act on a send. */
export type Claim =
  | { kind: 'claimed'; attempt: number }
  /** Delivered, failed, or waiting for receipts only. */
  | { kind: 'settled' }
  /** Somebody holds the lease, or the back-off has not ended. */
  | { kind: 'not_due'; waitMs: number }
  | { kind: 'no_sender' }
  | { kind: 'failed'; reason: FailureReason };

/** What a claim needs besides the send: a slot of a sender (or none) and the attempt that would begin. */
export interface ClaimOffer {
  attemptId: string;
  /** Counted from the time of the slot. */
  leaseMs: number;
  policy: RetryPolicy;
  slot: SendSlot | null;
}

/** Why a send may not go out now, or that it may. */
type Standing = 'settled' | 'not_due' | 'expired' | 'exhausted' | 'no_use' | 'too_late' | 'may_go_out';

function standing(send: Send, now: Date, policy: RetryPolicy): Standing {
  if (!isUndelivered(send)) return 'settled';
  if (send.dueAt !== null && send.dueAt > now) return 'not_due';
  if (now >= send.expiresAt) return 'expired';
  if (send.attempts >= policy.attemptsMax) return 'exhausted';
  if (send.verification !== 'pending') return 'no_use';
  return isWorthSending(send, now) ? 'may_go_out' : 'too_late';
}

/**
 * Claims a live send for one call to the provider, or says why not. The claim holds until its lease ends; an attempt whose
 * lease has ended is taken over, and its outcome is then unknown. A send whose deadline has come, or whose code was verified or
 * locked, fails here (after a receipt had time to tell, if its message may have gone), and one with too little life left, now or at
 * the time of its slot, waits for its deadline without another call.
 */
export function claim(send: Send, now: Date, offer: ClaimOffer): Decision<Claim> {
  const stands = standing(send, now, offer.policy);
  if (stands === 'settled') return { result: { kind: 'settled' } };
  if (stands === 'not_due')
    return { result: { kind: 'not_due', waitMs: Number(send.dueAt) - now.getTime() } };

  const lapsed: AttemptChange[] =
    send.attemptId === null
      ? []
      : [
          {
            id: send.attemptId,
            senderId: send.senderId,
            outcome: 'unknown',
            errorCode: null,
            messageId: null,
          },
        ];
  const receiptUntil = lapsed.length > 0 ? after(now, settleDelayMs(offer.policy)) : send.receiptUntil;

  if (stands === 'expired' || stands === 'no_use') return giveUp('expired_before_delivery');
  if (stands === 'exhausted') return giveUp('attempts_exhausted');
  if (stands === 'too_late') return wait({ dueAt: send.expiresAt }, 'settled');
  const { slot } = offer;
  if (slot === null) return wait({ dueAt: send.expiresAt, awaitingSender: true }, 'no_sender');
  const goesAt = after(now, slot.waitMs);
  if (!isWorthSending(send, goesAt)) return wait({ dueAt: send.expiresAt }, 'settled');
  return {
    result: { kind: 'claimed', attempt: send.attempts + 1 },
    change: {
      status: 'sending',
      channel: 'whatsapp',
      from: slot.sender.number,
      senderId: slot.sender.id,
      attempts: send.attempts + 1,
      attemptId: offer.attemptId,
      receiptUntil,
      awaitingSender: false,
      dueAt: after(goesAt, offer.leaseMs),
    },
    attempts: [
      ...lapsed,
      { id: offer.attemptId, senderId: slot.sender.id, outcome: null, errorCode: null, messageId: null },
    ],
  };

  function giveUp(reason: FailureReason): Decision<Claim> {
    if (mayStillArrive(receiptUntil, now)) return wait({ dueAt: receiptUntil }, 'settled');
    return { result: { kind: 'failed', reason }, change: failure(reason, now), attempts: lapsed };
  }
  function wait(change: SendChange, kind: 'settled' | 'no_sender'): Decision<Claim> {
    return { result: { kind }, change: { ...change, receiptUntil, attemptId: null }, attempts: lapsed };
  }
}

/**
 * Gives a claimed send back whose message was certainly never written, as when the worker stops before the time of its slot:
 * due now, for any worker, and without using up an attempt.
 */
export function releaseClaim(send: Send, now: Date, attemptId: string): Decision<'released' | 'stale'> {
  if (send.attemptId !== attemptId) return { result: 'stale' };
  return {
    result: 'released',
    change: { attemptId: null, attempts: send.attempts - 1, ...(isUndelivered(send) && { dueAt: now }) },
    attempts: [
      { id: attemptId, senderId: send.senderId, outcome: 'retry', errorCode: null, messageId: null },
    ],
  };
}

/** Whether a message of unknown outcome may have gone, and its receipt still has time to say so. */
function mayStillArrive(receiptUntil: Date | null, now: Date): receiptUntil is Date {
  return receiptUntil !== null && now < receiptUntil;
}

/** What to do after an attempt. */
export type Settlement =
  | { kind: 'accepted' }
  | { kind: 'retry'; delayMs: number }
  /** The sender cannot serve this send: claim again at once for another. */
  | { kind: 'reassign' }
  | { kind: 'failed'; reason: FailureReason }
  /** There will be no other attempt, but one may have gone through: only a receipt or the end of the wait decides. */
  | { kind: 'awaiting_receipt' }
  /** Somebody else acts on this send by now; nothing was written. */
  | { kind: 'stale' };

/** Writes the outcome of an attempt. Only the attempt that holds the claim may: a worker that wakes up late changes nothing. */
export function settle(
  send: Send,
  now: Date,
  attemptId: string,
  outcome: Outcome,
  policy: RetryPolicy,
  random: number,
): Decision<Settlement> {
  if (send.attemptId !== attemptId) return { result: { kind: 'stale' } };
  const attempts: AttemptChange[] = [
    {
      id: attemptId,
      senderId: send.senderId,
      outcome: outcome.kind,
      errorCode: outcome.kind === 'accepted' ? null : outcome.errorCode,
      messageId: outcome.kind === 'accepted' ? outcome.messageId : null,
    },
  ];
  const done = (result: Settlement, change: SendChange): Decision<Settlement> => ({
    result,
    change: { attemptId: null, ...change },
    attempts,
  });
  const failed = (reason: FailureReason): Decision<Settlement> =>
    done({ kind: 'failed', reason }, failure(reason, now));

  // A receipt was faster than the provider's answer: what became of the message is known, whatever the answer was.
  if (!isUndelivered(send)) {
    const sentAt = send.sentAt ?? send.deliveredAt ?? send.readAt ?? now;
    return {
      result: { kind: 'accepted' },
      change: { attemptId: null, ...(send.sentAt === null && { sentAt }) },
      attempts: outcome.kind === 'accepted' ? attempts : [],
    };
  }
  if (outcome.kind === 'accepted')
    return done({ kind: 'accepted' }, { status: 'sent', sentAt: now, sealedCode: null, dueAt: null });
  if (outcome.kind === 'recipient') return failed('rejected_by_provider');
  if (outcome.kind === 'config' && outcome.scope === 'request') return failed('rejected_by_provider');
  if (outcome.kind === 'config' || outcome.kind === 'sender')
    return done({ kind: 'reassign' }, { attempts: send.attempts - 1, dueAt: now });

  const receiptUntil = outcome.kind === 'unknown' ? after(now, settleDelayMs(policy)) : send.receiptUntil;
  const isExhausted = send.attempts >= policy.attemptsMax;
  if (!isExhausted && send.verification === 'pending') {
    // Not beyond the deadline: the send is looked at then, and given up.
    const wanted = after(now, retryDelayMs(policy, send.attempts, outcome, random));
    const dueAt = earlier(wanted, now < send.expiresAt ? send.expiresAt : now);
    return done({ kind: 'retry', delayMs: dueAt.getTime() - now.getTime() }, { receiptUntil, dueAt });
  }
  if (!mayStillArrive(receiptUntil, now))
    return failed(isExhausted ? 'attempts_exhausted' : 'expired_before_delivery');
  return done({ kind: 'awaiting_receipt' }, { receiptUntil, dueAt: receiptUntil });
}
