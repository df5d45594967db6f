import { deliveryWait, type DeliveryWait } from '@onecode/domain';
import type { SendDetails } from '@onecode/store';

/** What a send waits for, and until when at the latest; null where nobody can say. */
export interface WaitingView {
  kind: DeliveryWait['for'] | 'code';
  until: Date | null;
}

/** Returns what is still to come for a send: of its delivery first, then of its code. */
export function waitingViews(send: SendDetails, isHeld: boolean): WaitingView[] {
  const delivery = deliveryWait(send, isHeld);
  const views: WaitingView[] = [];
  if (delivery !== null) views.push({ kind: delivery.for, until: delivery.until });
  if (send.verification === 'pending') views.push({ kind: 'code', until: send.expiresAt });
  return views;
}
