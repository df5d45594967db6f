import {
  postponeOrFail,
  type Decision,
  type DeliveryEnd,
  type RetryPolicy,
  type Send,
} from '@onecode/domain';

export type Claim = 'claimed' | DeliveryEnd;

/** The inputs of a claim in addition to the send. */
export interface ClaimOffer {
  /** Milliseconds from the time of the permit. */
  leaseMs: number;
  policy: RetryPolicy;
  /** A sender, and the milliseconds until its permit. */
  permit: { sender: { id: string; number: string }; waitMs: number } | null;
}

/** Returns whether a message is still worth sending: a model of `is_worth_sending`. */
export function isWorthSending(send: Pick<Send, 'createdAt' | 'expiresAt'>, at: Date): boolean {
  const lifeMs = send.expiresAt.getTime() - send.createdAt.getTime();
  return send.expiresAt.getTime() - at.getTime() > Math.min(30_000, lifeMs * 0.1);
}

/**
 * Claims a live send for one call to the provider: a model of `take_deliveries` for tests. Without a permit, and for a send that may not be
 * sent, it returns the decision of `postponeOrFail`.
 */
export function claim(send: Send, now: Date, { leaseMs, policy, permit }: ClaimOffer): Decision<Claim> {
  const postponed = postponeOrFail(send, now, policy);
  const isEligible = postponed.change?.phase === 'waiting';
  if (permit === null || !isEligible) return postponed;
  const permitAt = new Date(now.getTime() + permit.waitMs);
  if (!isWorthSending(send, permitAt)) return postponed;
  return {
    result: 'claimed',
    change: {
      status: send.status === 'queued' ? 'sending' : send.status,
      phase: 'calling',
      channel: 'whatsapp',
      from: permit.sender.number,
      senderId: permit.sender.id,
      attempts: send.attempts + 1,
      attemptNumber: send.attemptNumber + 1,
      claimedAt: now,
      claimedUntil: new Date(permitAt.getTime() + leaseMs),
    },
  };
}
