import {
  GUESSES_MAX,
  type Channel,
  type DeliveryState,
  type FailureReason,
  type Locale,
  type Mode,
  type UnitBucket,
  type Verification,
} from '@onecode/domain';
import type { SendDetails, SendPage, SendSummary } from '@onecode/store';
import { nextStepOf, type NextStepView } from './nextStep.js';
import { timelineViews, type TimelineEvent } from './timeline.js';
import { waitingViews, type WaitingView } from './waiting.js';

/** A send in a list. */
export interface SendView {
  id: string;
  application: { id: string; name: string };
  mode: Mode;
  status: DeliveryState;
  verification: Verification;
  /** The calling code and the last digits. */
  recipient: string;
  /** ISO 3166; null for numbers of no country. */
  country: string | null;
  locale: Locale;
  channel: Channel | null;
  createdAt: string;
  expiresAt: string;
  failureReason: FailureReason | null;
  chargedFrom: UnitBucket | null;
}

export interface SendsView {
  sends: SendView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/** A send with its whole history. */
export interface SendDetailsView extends SendView {
  /** The sender's E.164 number. */
  from: string | null;
  guessesLeft: number;
  /** Of the request that created it: `X-Request-Id` of its answer; null where none was kept. */
  requestId: string;
  /** Oldest first. */
  timeline: TimelineEvent[];
  /** What the send still waits for, the next event first. */
  waiting: WaitingView[];
  next: NextStepView;
  /** Whether anything can still happen to it. */
  isOpen: boolean;
}

function sendView(send: SendSummary): SendView {
  return {
    id: send.id,
    application: { id: send.applicationId, name: send.applicationName },
    mode: send.mode,
    status: send.status,
    verification: send.verification,
    recipient: send.recipientMasked,
    country: send.country,
    locale: send.locale,
    channel: send.channel,
    createdAt: send.createdAt.toISOString(),
    expiresAt: send.expiresAt.toISOString(),
    failureReason: send.failureReason,
    chargedFrom: send.chargedFrom,
  };
}

export function sendsView({ sends, next }: SendPage): SendsView {
  return { sends: sends.map(sendView), next };
}

/** @param isHeld whether a hold stops the send */
export function sendDetailsView(send: SendDetails, isHeld: boolean, now: Date): SendDetailsView {
  return {
    ...sendView(send),
    from: send.from,
    guessesLeft: send.verification === 'pending' ? GUESSES_MAX - send.wrongGuesses : 0,
    requestId: send.requestId,
    timeline: timelineViews(send),
    waiting: waitingViews(send, isHeld),
    next: nextStepOf(send, isHeld, now),
    isOpen: send.verification === 'pending' || send.dueAt !== null,
  };
}

/** A send as the staff see it: with its account, without the recipient and without the advice to integrators. */
export interface StaffSendView extends Omit<SendDetailsView, 'recipient' | 'next'> {
  account: { id: string; name: string };
}

export function staffSendView(
  { recipient: _recipient, next: _next, ...send }: SendDetailsView,
  account: { id: string; name: string },
): StaffSendView {
  return { ...send, account };
}
