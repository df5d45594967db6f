import { GUESSES_MAX, type AttemptOutcome, type FailureReason, type UnitBucket } from '@onecode/domain';
import type { AttemptDetails, ReceiptDetails, SendDetails } from '@onecode/store';
import { explanationView, type ExplanationView } from './errorExplanation.js';

type Event =
  | { kind: 'created'; chargedFrom: UnitBucket | null }
  | { kind: 'routed'; sender: string | null }
  | {
      kind: 'attempt';
      /** 1 for the first. */
      number: number;
      sender: string | null;
      /** Null, like the outcome, while the call is under way. */
      seconds: number | null;
      outcome: AttemptOutcome | null;
      errorCode: number | null;
      explanation: ExplanationView | null;
    }
  | {
      kind: 'receipt';
      status: ReceiptDetails['status'];
      errorCode: number | null;
      explanation: ExplanationView | null;
    }
  | { kind: 'simulated' }
  /** The recipient says that they did not request the code. */
  | { kind: 'denied' }
  | { kind: 'wrong_code'; left: number }
  | { kind: 'verified' }
  | { kind: 'locked' }
  | { kind: 'expired' }
  | { kind: 'failed'; reason: FailureReason | null }
  | { kind: 'returned'; chargedFrom: UnitBucket };

/** An event in the history of a send. */
export type TimelineEvent = Event & { at: string };

/** The order of simultaneous events. */
const ORDER: readonly Event['kind'][] = [
  'created',
  'routed',
  'attempt',
  'simulated',
  'receipt',
  'denied',
  'wrong_code',
  'verified',
  'locked',
  'expired',
  'failed',
  'returned',
];

type Dated = Event & { time: Date };

/** Returns the history of a send, oldest event first. */
export function timelineOf(send: SendDetails): TimelineEvent[] {
  return [...deliveryOf(send), ...receiptsOf(send), ...denialsOf(send), ...codeOf(send), ...unitsOf(send)]
    .toSorted(
      (one, other) =>
        one.time.getTime() - other.time.getTime() || ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind),
    )
    .map(({ time, ...event }) => ({ ...event, at: time.toISOString() }));
}

function deliveryOf(send: SendDetails): Dated[] {
  const { attempts, channel, createdAt, failedAt, failureReason, readAt } = send;
  const [first] = attempts;
  const events: Dated[] = [{ kind: 'created', time: createdAt, chargedFrom: send.chargedFrom }];
  if (first !== undefined) events.push({ kind: 'routed', time: first.startedAt, sender: first.senderNumber });
  for (const [n, attempt] of attempts.entries()) events.push(attemptEvent(send, attempt, n + 1));
  if (channel === 'sandbox' && readAt !== null) events.push({ kind: 'simulated', time: readAt });
  if (failedAt !== null) events.push({ kind: 'failed', time: failedAt, reason: failureReason });
  return events;
}

function attemptEvent(send: SendDetails, attempt: AttemptDetails, number: number): Dated {
  const { startedAt, finishedAt, outcome, errorCode } = asAnswered(send, attempt);
  return {
    kind: 'attempt',
    time: startedAt,
    number,
    sender: attempt.senderNumber,
    seconds: finishedAt === null ? null : (finishedAt.getTime() - startedAt.getTime()) / 1000,
    outcome,
    errorCode,
    explanation: outcome === null || outcome === 'accepted' ? null : explanationView(errorCode, outcome),
  };
}

/** Undoes what a later `failed` receipt wrote into its attempt: the provider had accepted the call itself. */
function asAnswered({ sentAt, receipts }: SendDetails, attempt: AttemptDetails): AttemptDetails {
  const isReported = receipts.some(
    ({ status, errorCode }) => status === 'failed' && errorCode === attempt.errorCode,
  );
  return isReported && sentAt !== null && sentAt >= attempt.startedAt && attempt.outcome !== 'accepted'
    ? { ...attempt, outcome: 'accepted', errorCode: null, finishedAt: sentAt }
    : attempt;
}

/** Returns each reported status once. The send's own times stand for receipts that have been deleted. */
function receiptsOf(send: SendDetails): Dated[] {
  if (send.channel === 'sandbox') return [];
  const kept = { sent: send.sentAt, delivered: send.deliveredAt, read: send.readAt };
  const events = new Map<string, Dated>();
  for (const { status, occurredAt, errorCode } of send.receipts) {
    const isFailure = status === 'failed';
    // The provider's clock counts whole seconds and may run ahead or behind. The times of the send are in order.
    const earliest = isFailure ? (send.sentAt ?? send.createdAt) : send.createdAt;
    const time = (isFailure ? null : kept[status]) ?? (occurredAt < earliest ? earliest : occurredAt);
    const explanation = isFailure ? explanationView(errorCode, 'recipient') : null;
    events.set(`${status} ${errorCode}`, { kind: 'receipt', time, status, errorCode, explanation });
  }
  for (const status of ['delivered', 'read'] as const) {
    const time = kept[status];
    if (time === null || events.has(`${status} null`)) continue;
    events.set(status, { kind: 'receipt', time, status, errorCode: null, explanation: null });
  }
  return [...events.values()];
}

function denialsOf({ deniedAt, sentAt, createdAt }: SendDetails): Dated[] {
  // The provider's clock counts whole seconds: nobody denies a message before it is sent.
  const earliest = sentAt ?? createdAt;
  return deniedAt.map((at) => ({ kind: 'denied', time: at < earliest ? earliest : at }));
}

function codeOf({
  verification,
  verifiedAt,
  expiresAt,
  wrongGuesses,
  wrongGuessTimes,
}: SendDetails): Dated[] {
  // Guesses whose times are not kept came before the others.
  const before = wrongGuesses - wrongGuessTimes.length;
  const events: Dated[] = wrongGuessTimes.map((time, n) => ({
    kind: 'wrong_code',
    time,
    left: GUESSES_MAX - before - n - 1,
  }));
  const last = wrongGuessTimes.at(-1);
  if (verifiedAt !== null) events.push({ kind: 'verified', time: verifiedAt });
  if (verification === 'locked' && last !== undefined) events.push({ kind: 'locked', time: last });
  if (verification === 'expired') events.push({ kind: 'expired', time: expiresAt });
  return events;
}

function unitsOf({ units }: SendDetails): Dated[] {
  return units.flatMap(({ kind, bucket, at }) =>
    kind === 'returned' ? [{ kind, chargedFrom: bucket, time: at }] : [],
  );
}
