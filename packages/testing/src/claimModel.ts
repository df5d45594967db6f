import {
  isWorthSending,
  postponeOrFail,
  UNCLAIMED,
  type Decision,
  type Postponement,
  type RetryPolicy,
  type Send,
  type SendSlot,
} from '@onecode/domain';

export type Claim = { kind: 'claimed'; attempt: number } | Postponement;

/** What a claim needs in addition to the send. */
export interface ClaimOffer {
  /** Milliseconds from the time of the slot. */
  leaseMs: number;
  policy: RetryPolicy;
  slot: SendSlot | null;
}

/**
 * Claims a live send for one call to the provider, as `take_deliveries` does in the database: a model for tests. Without a slot, and for a
 * send that may not be sent, it does what `postponeOrFail` does.
 */
export function claim(send: Send, now: Date, { leaseMs, policy, slot }: ClaimOffer): Decision<Claim> {
  const postponed = postponeOrFail(send, now, policy);
  const isEligible = postponed.change?.phase === 'waiting';
  if (slot === null || !isEligible) return postponed;
  const { receiptUntil = null } = postponed.change ?? {};
  const slotAt = new Date(now.getTime() + slot.waitMs);
  if (!isWorthSending(send, slotAt))
    return {
      ...postponed,
      result: { kind: 'settled' },
      change: { phase: 'giving_up', dueAt: send.expiresAt, receiptUntil, ...UNCLAIMED },
    };
  return {
    result: { kind: 'claimed', attempt: send.attempts + 1 },
    change: {
      status: send.status === 'queued' ? 'sending' : send.status,
      phase: 'calling',
      channel: 'whatsapp',
      from: slot.sender.number,
      senderId: slot.sender.id,
      attempts: send.attempts + 1,
      attemptNumber: send.attemptNumber + 1,
      claimedAt: now,
      claimedUntil: new Date(slotAt.getTime() + leaseMs),
      receiptUntil,
    },
    attempts: postponed.attempts ?? [],
  };
}
