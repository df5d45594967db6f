import {
  GUESSES_MAX,
  isDelivering,
  type AttemptOutcome,
  type FailureReason,
  type MessageStatus,
  type UnitBucket,
} from '@onecode/domain';
import type { AttemptDetails, ReceiptDetails, SendDetails } from './sendDetails.js';

type Event =
  | { kind: 'created'; chargedFrom: UnitBucket | null }
  | { kind: 'routed'; sender: string | null }
  | {
      kind: 'attempt';
      /** Starts at 1. */
      number: number;
      sender: string | null;
      /** Whether the sender is the account's own. */
      isOwnSender: boolean;
      /** Null, like the outcome, while the call is in progress. */
      seconds: number | null;
      outcome: AttemptOutcome | null;
      errorCode: number | null;
      /** Null if the provider did not hold the message. */
      messageStatus: MessageStatus | null;
    }
  | {
      kind: 'receipt';
      status: ReceiptDetails['status'];
      /** Whether it reports a failed message, after which the code is or was sent again. */
      isSentAgain: boolean;
      /** What a failure means for the message; null for other statuses. */
      outcome: Exclude<AttemptOutcome, 'accepted'> | null;
      errorCode: number | null;
    }
  | { kind: 'simulated' }
  /** The recipient reported that they did not request the code. */
  | { kind: 'denied' }
  /** The number's owner has changed since the last verified code, or WhatsApp was installed again. */
  | { kind: 'identity_changed' }
  | { kind: 'wrong_code'; left: number }
  | { kind: 'verified' }
  | { kind: 'locked' }
  | { kind: 'expired' }
  | { kind: 'failed'; reason: FailureReason | null }
  | { kind: 'returned'; chargedFrom: UnitBucket }
  | { kind: 'reclaimed'; chargedFrom: UnitBucket };

export type TimelineEvent = Event & { at: Date };

/** The order of events with the same time. */
const ORDER: readonly Event['kind'][] = [
  'created',
  'routed',
  'attempt',
  'simulated',
  'receipt',
  'denied',
  'identity_changed',
  'wrong_code',
  'verified',
  'locked',
  'expired',
  'failed',
  'returned',
  'reclaimed',
];

type Dated = Event & { time: Date };

/** Returns the history of a send, oldest event first. */
export function buildTimeline(send: SendDetails): TimelineEvent[] {
  return [
    ...deliveryEvents(send),
    ...receiptEvents(send),
    ...denialEvents(send),
    ...identityEvents(send),
    ...codeEvents(send),
    ...unitEvents(send),
  ]
    .toSorted(
      (one, other) =>
        one.time.getTime() - other.time.getTime() || ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind),
    )
    .map(({ time, ...event }) => ({ ...event, at: time }));
}

function deliveryEvents(send: SendDetails): Dated[] {
  const { attempts, channel, createdAt, failedAt, failureReason, readAt } = send;
  const [first] = attempts;
  const events: Dated[] = [{ kind: 'created', time: createdAt, chargedFrom: send.chargedFrom }];
  if (first !== undefined) events.push({ kind: 'routed', time: first.startedAt, sender: first.senderNumber });
  for (const attempt of attempts) events.push(attemptEvent(send, attempt));
  if (channel === 'sandbox' && readAt !== null) events.push({ kind: 'simulated', time: readAt });
  if (failedAt !== null) events.push({ kind: 'failed', time: failedAt, reason: failureReason });
  return events;
}

function attemptEvent(send: SendDetails, attempt: AttemptDetails): Dated {
  const { number, startedAt, finishedAt, outcome, errorCode } = asAnswered(send, attempt);
  return {
    kind: 'attempt',
    time: startedAt,
    number,
    sender: attempt.senderNumber,
    isOwnSender: attempt.isOwnSender,
    seconds: finishedAt === null ? null : (finishedAt.getTime() - startedAt.getTime()) / 1000,
    outcome,
    errorCode,
    messageStatus: attempt.messageStatus,
  };
}

/** Reverts the effect of a later `failed` receipt on its attempt: the provider had accepted the call itself. */
function asAnswered({ sentAt, receipts }: SendDetails, attempt: AttemptDetails): AttemptDetails {
  const isReported = receipts.some(
    (receipt) => receipt.status === 'failed' && receipt.attempt === attempt.number,
  );
  return isReported && sentAt !== null && sentAt >= attempt.startedAt && attempt.outcome !== 'accepted'
    ? { ...attempt, outcome: 'accepted', errorCode: null }
    : attempt;
}

function receiptEvents(send: SendDetails): Dated[] {
  return send.receipts.map((receipt) => ({
    kind: 'receipt',
    time: reportedAt(send, receipt),
    status: receipt.status,
    errorCode: receipt.errorCode,
    ...describeFailure(send, receipt),
  }));
}

const identityEvents = ({ identityChangedAt: time }: SendDetails): Dated[] =>
  time === null ? [] : [{ kind: 'identity_changed', time }];

const denialEvents = ({ deniedAt: time }: SendDetails): Dated[] =>
  time === null ? [] : [{ kind: 'denied', time }];

/**
 * Returns the time of a receipt, no earlier than the events that must precede it: the provider's clock has whole seconds and may be ahead
 * or behind.
 */
function reportedAt(send: SendDetails, { attempt: number, occurredAt, status }: ReceiptDetails): Date {
  if (status !== 'failed') return occurredAt;
  const attempt = send.attempts.find((one) => one.number === number);
  const earliest = attempt?.finishedAt ?? send.sentAt ?? send.createdAt;
  return occurredAt < earliest ? earliest : occurredAt;
}

/** Returns why a message was lost, and whether its send is sent again. */
function describeFailure(
  send: SendDetails,
  { status, attempt: number }: ReceiptDetails,
): { outcome: Exclude<AttemptOutcome, 'accepted'> | null; isSentAgain: boolean } {
  if (status !== 'failed') return { outcome: null, isSentAgain: false };
  const { attempts } = send;
  const index = attempts.findIndex((attempt) => attempt.number === number);
  const outcome = attempts[index]?.outcome ?? 'recipient';
  return {
    outcome: outcome === 'accepted' ? 'recipient' : outcome,
    isSentAgain: (send.status === 'sent' && isDelivering(send)) || index < attempts.length - 1,
  };
}

function codeEvents({ verification, verifiedAt, expiresAt, wrongGuessTimes }: SendDetails): Dated[] {
  const events: Dated[] = wrongGuessTimes.map((time, n) => ({
    kind: 'wrong_code',
    time,
    left: GUESSES_MAX - n - 1,
  }));
  const last = wrongGuessTimes.at(-1);
  if (verifiedAt !== null) events.push({ kind: 'verified', time: verifiedAt });
  if (verification === 'locked' && last !== undefined) events.push({ kind: 'locked', time: last });
  if (verification === 'expired') events.push({ kind: 'expired', time: expiresAt });
  return events;
}

function unitEvents({ units }: SendDetails): Dated[] {
  return units.flatMap(({ kind, bucket, at }) =>
    kind === 'reserved' ? [] : [{ kind, chargedFrom: bucket, time: at }],
  );
}
