import { isUndelivered, type AttemptOutcome, type Send, type Verification } from './send.js';

/** What has been seen of a send's delivery. */
export interface DeliveryProgress extends Pick<
  Send,
  'status' | 'awaitingSender' | 'lostAt' | 'dueAt' | 'expiresAt'
> {
  verification: Verification;
  /** Oldest first. An attempt is under way until it is finished. */
  attempts: readonly { outcome: AttemptOutcome | null; finishedAt: Date | null }[];
}

/**
 * What a delivery waits for:
 * - `worker`: for the first worker to claim the send
 * - `sender`: for a sender that may send
 * - `release`: for operators to release a hold
 * - `answer`: for the provider's answer to a call
 * - `next_attempt`: for the end of the back-off
 * - `receipt`: for a receipt of a message that was accepted, or that may have been
 */
export interface DeliveryWait {
  for: 'worker' | 'sender' | 'release' | 'answer' | 'next_attempt' | 'receipt';
  /** When the wait ends at the latest; null where nobody can say. */
  until: Date | null;
}

/** What a send's delivery waits for; null when nothing more is expected. @param isHeld whether a hold stops the send */
export function deliveryWait(send: DeliveryProgress, isHeld: boolean): DeliveryWait | null {
  const { status, attempts, awaitingSender, dueAt, expiresAt, verification } = send;
  if (status === 'sent' && !isUndelivered(send))
    return verification === 'pending' ? { for: 'receipt', until: null } : null;
  if (!isUndelivered(send)) return null;
  if (attempts.some(({ finishedAt }) => finishedAt === null)) return { for: 'answer', until: null };
  if (isHeld) return { for: 'release', until: expiresAt };
  if (awaitingSender) return { for: 'sender', until: expiresAt };
  if (status === 'queued') return { for: 'worker', until: null };
  return { for: attempts.at(-1)?.outcome === 'unknown' ? 'receipt' : 'next_attempt', until: dueAt };
}
