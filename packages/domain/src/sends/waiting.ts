import type { Send, Verification } from './send.js';

/** What has been seen of a send's delivery. */
export interface DeliveryProgress extends Pick<Send, 'phase' | 'dueAt' | 'expiresAt'> {
  verification: Verification;
}

/**
 * What a delivery waits for:
 * - `worker`: for a worker to claim the send
 * - `sender`: for a sender that may send
 * - `release`: for operators to release a hold
 * - `answer`: for the provider's answer to a call
 * - `next_attempt`: for the end of the back-off
 * - `receipt`: for a receipt of a message that was accepted, or that may have been
 */
export interface DeliveryWait {
  for: 'worker' | 'sender' | 'release' | 'answer' | 'next_attempt' | 'receipt';
  /** When the wait ends at the latest; null if that is not known. */
  until: Date | null;
}

/** Returns what a send's delivery waits for; null when nothing more is expected. @param isHeld whether a hold matches the send */
export function deliveryWait(
  { phase, dueAt, expiresAt, verification }: DeliveryProgress,
  isHeld: boolean,
): DeliveryWait | null {
  const beforeCall = (wait: DeliveryWait): DeliveryWait =>
    isHeld ? { for: 'release', until: expiresAt } : wait;
  switch (phase) {
    case 'ready':
      return beforeCall({ for: 'worker', until: null });
    case 'waiting':
      return beforeCall({ for: 'sender', until: expiresAt });
    case 'backing_off':
      return beforeCall({ for: 'next_attempt', until: dueAt });
    case 'calling':
      return { for: 'answer', until: null };
    case 'giving_up':
      return { for: 'receipt', until: dueAt };
    case 'unconfirmed':
      return verification === 'pending' ? { for: 'receipt', until: null } : null;
    case 'done':
      return null;
  }
}
