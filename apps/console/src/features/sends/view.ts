import { GUESSES_MAX } from '@onecode/domain';
import type { SendDetails, SendPage, SendSummary } from '@onecode/store';
import type { Json } from '../../http/json.js';
import { nextStepOf } from './nextStep.js';
import { timelineViews } from './timeline.js';
import { waitingViews } from './waiting.js';

/** A send in a list. */
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

export const SEND_COLUMNS = [
  'id',
  'created_at',
  'application',
  'mode',
  'status',
  'failure_reason',
  'verification',
  'recipient',
  'country',
  'locale',
  'channel',
  'expires_at',
  'charged_from',
];

/** A send in the download, with `SEND_COLUMNS`. */
export const sendRow = (send: SendSummary) => [
  send.id,
  send.createdAt,
  send.applicationName,
  send.mode,
  send.status,
  send.failureReason,
  send.verification,
  send.recipientMasked,
  send.country,
  send.locale,
  send.channel,
  send.expiresAt,
  send.chargedFrom,
];

/** @param isHeld whether a hold stops the send */
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

/** A send as the staff see it: with its account, without the recipient and without the advice to integrators. */
export type StaffSendView = Json<ReturnType<typeof staffSendView>>;

export const staffSendView = (
  { recipient: _recipient, next: _next, ...send }: ReturnType<typeof sendDetailsView>,
  account: { id: string; name: string },
) => ({ ...send, account });
