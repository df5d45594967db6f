import type { SendDetailsView } from './view.js';

/** A send as the staff see it: whose it is, but neither whom it went to nor what its integrators are told to do. */
export interface StaffSendView extends Omit<SendDetailsView, 'recipient' | 'next'> {
  account: { id: string; name: string };
}

export function staffSendView(
  { recipient: _recipient, next: _next, ...send }: SendDetailsView,
  account: { id: string; name: string },
): StaffSendView {
  return { ...send, account };
}
