import { GUESSES_MAX } from '@onecode/domain';
import { deliveryWait, type SendDetails, type SendPage, type SendSummary } from '@onecode/store/reports';
import type { CsvColumns } from '../../http/csv.js';
import type { Json } from '../../http/json.js';
import { nextStepOf } from './nextStep.js';
import { timelineViews } from './timeline.js';

export type SendView = Json<ReturnType<typeof sendView>>;

export interface SendsView {
  sends: SendView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/** A send with its whole history. */
export type SendDetailsView = Json<ReturnType<typeof sendDetailsView>>;

const sendView = ({ applicationId, applicationName, recipientMasked, ...send }: SendSummary) => ({
  id: send.id,
  application: { id: applicationId, name: applicationName },
  mode: send.mode,
  status: send.status,
  verification: send.verification,
  recipient: recipientMasked,
  country: send.country,
  locale: send.locale,
  channel: send.channel,
  createdAt: send.createdAt,
  expiresAt: send.expiresAt,
  failureReason: send.failureReason,
  chargedFrom: send.chargedFrom,
});

export const sendsView = ({ sends, next }: SendPage) => ({ sends: sends.map(sendView), next });

export const SEND_COLUMNS: CsvColumns<SendSummary> = {
  id: (send) => send.id,
  created_at: (send) => send.createdAt,
  application: (send) => send.applicationName,
  mode: (send) => send.mode,
  status: (send) => send.status,
  failure_reason: (send) => send.failureReason,
  verification: (send) => send.verification,
  recipient: (send) => send.recipientMasked,
  country: (send) => send.country,
  locale: (send) => send.locale,
  channel: (send) => send.channel,
  expires_at: (send) => send.expiresAt,
  charged_from: (send) => send.chargedFrom,
};

/**
 * Returns the events that a send waits for, in its delivery and then for its code, each with its latest time; null if the time is unknown.
 */
function waitingViews(send: SendDetails, isHeld: boolean) {
  const delivery = deliveryWait(send, isHeld);
  return [
    ...(delivery === null ? [] : [{ kind: delivery.for, until: delivery.until }]),
    ...(send.verification === 'pending' ? [{ kind: 'code' as const, until: send.expiresAt }] : []),
  ];
}

/** @param isHeld whether a hold blocks the send */
export const sendDetailsView = (send: SendDetails, isHeld: boolean, now: Date) => ({
  ...sendView(send),
  from: send.from,
  guessesLeft: send.verification === 'pending' ? GUESSES_MAX - send.wrongGuesses : 0,
  requestId: send.requestId,
  timeline: timelineViews(send),
  waiting: waitingViews(send, isHeld),
  next: nextStepOf(send, isHeld, now),
  isOpen: send.verification === 'pending' || send.dueAt !== null,
});

/** A send for staff: with its account, without the recipient and without the advice to integrators. */
export type StaffSendView = Json<ReturnType<typeof staffSendView>>;

export const staffSendView = (
  { recipient: _recipient, next: _next, ...send }: ReturnType<typeof sendDetailsView>,
  account: { id: string; name: string },
) => ({ ...send, account });
