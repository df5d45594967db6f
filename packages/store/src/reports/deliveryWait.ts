import type { SendDetails } from './sendDetails.js';

/** The fields of a send from which its wait is derived. */
export type DeliveryProgress = Pick<SendDetails, 'phase' | 'dueAt' | 'expiresAt' | 'verification'>;

/**
 * What a delivery waits for:
 * - `worker`: a worker that claims the send
 * - `sender`: a sender that may send
 * - `release`: the end of a hold
 * - `answer`: the provider's response to a call
 * - `next_attempt`: the end of the back-off
 * - `receipt`: a receipt of a message that was accepted, or may have been; for `giving_up`, until the send fails
 */
export interface DeliveryWait {
  for: 'worker' | 'sender' | 'release' | 'answer' | 'next_attempt' | 'receipt';
  /** The latest time at which the wait ends; null if unknown. */
  until: Date | null;
}

/**
 * Returns what a send's delivery waits for; null if neither a call nor a receipt is expected.
 *
 * @param isHeld whether a hold matches the send
 */
export function deliveryWait(
  { phase, dueAt, expiresAt, verification }: DeliveryProgress,
  isHeld: boolean,
): DeliveryWait | null {
  const beforeCall = (wait: DeliveryWait): DeliveryWait | null => {
    // No call follows after the end of the code: the send fails when it is due.
    if (verification !== 'pending') return null;
    return isHeld ? { for: 'release', until: expiresAt } : wait;
  };
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
