import { ofEachSend, type SendFacts } from './facts.js';
import type { AttemptRow } from '../evidence.js';

/** Calls that were handed over to another sender do not count: the fault was not the send's. */
const counts = ({ outcome }: AttemptRow): boolean => outcome !== 'sender' && outcome !== 'config';

/** Nor do attempts that were handed back before any call. */
const attemptsAreLimited = ofEachSend(
  'attempts-are-limited',
  'The provider is called for a send as often as configured and no more, hand-overs to another sender aside.',
  ({ row, attempts, requests }, { attemptsMax }) => {
    const called = new Set(requests.map(({ opaque }) => opaque));
    const counted = attempts.filter((attempt) => counts(attempt) && called.has(attempt.id)).length;
    return [
      counted > attemptsMax && `${counted} calls`,
      row.attempts > attemptsMax && `${row.attempts} attempts in the row`,
    ];
  },
);

/**
 * A receipt can settle a send while a later attempt is under way, which nobody writes off when its worker dies then. So one open
 * attempt may be left on a send that was sent.
 */
const oneAttemptAtATime = ofEachSend(
  'one-attempt-at-a-time',
  'At most one attempt of a send is under way; while it is to be delivered it is the one that its row names.',
  ({ row, attempts }) => {
    const open = attempts.filter(({ outcome }) => outcome === null).map(({ id }) => id);
    const undelivered = row.status === 'queued' || row.status === 'sending';
    return [
      open.length > 1 && `${open.length} attempts under way`,
      undelivered &&
        open.length === 1 &&
        open[0] !== row.attemptId &&
        'an attempt is under way without its claim',
      undelivered && row.attemptId !== null && open.length === 0 && 'it is claimed, and nothing is under way',
    ];
  },
);

/** A claim is written in one statement with its attempt, guarded by the row's version: no race excuses a later one. */
const noCallAfterFailure = ofEachSend(
  'no-call-after-failure',
  'No attempt begins after its send has failed.',
  ({ row, attempts }) => [
    row.failedAt !== null &&
      attempts.some(({ startedAt }) => startedAt > (row.failedAt as number)) &&
      'an attempt began after the failure',
  ],
);

/**
 * A claim and the judgement of a guess are guarded by the row's version: whichever is later has seen the other. Times are cut to
 * milliseconds on their way here.
 */
const noCallForSettledCode = ofEachSend(
  'no-call-for-a-settled-code',
  'No attempt begins after its code was verified or locked.',
  ({ row, attempts }) => {
    const settledAt = row.verifiedAt ?? row.lockedAt;
    return [
      settledAt !== null &&
        attempts.some(({ startedAt }) => startedAt > settledAt + 1) &&
        `an attempt began after the code was ${row.verification}`,
    ];
  },
);

/** An outcome `accepted` is written in the statement that makes the send sent, or later. */
const noCallOnceAccepted = ofEachSend(
  'no-call-once-accepted',
  'No attempt begins after another was known to be accepted.',
  ({ attempts }) => {
    const known = attempts
      .filter(({ outcome, finishedAt }) => outcome === 'accepted' && finishedAt !== null)
      .map(({ finishedAt }) => finishedAt as number);
    const first = Math.min(...known);
    return [attempts.some(({ startedAt }) => startedAt > first) && 'an attempt began after one was accepted'];
  },
);

const isSent = ({ row }: SendFacts): boolean =>
  row.mode === 'live' && ['sent', 'delivered', 'read'].includes(row.status);

const sentWasAccepted = ofEachSend(
  'sent-was-accepted',
  'A live send is sent, delivered or read only if the provider took a message for it.',
  (send) => [isSent(send) && send.messages.length === 0 && `${send.row.status} without a message`],
);

const acceptedIsSent = ofEachSend(
  'accepted-is-sent',
  'An attempt that is known to be accepted made its send sent, unless it had failed before.',
  ({ row, attempts }) => [
    (row.status === 'queued' || row.status === 'sending') &&
      attempts.some(({ outcome }) => outcome === 'accepted') &&
      `${row.status} with an accepted attempt`,
  ],
);

/** Our own 200 is the provider's leave to forget a report, so nothing of what it has ended with may be missing. */
const receiptsAreKept = ofEachSend(
  'receipts-are-kept',
  'Every report of the provider that was answered with 200 is stored.',
  ({ messages, receipts }, { settled, provider }) => {
    if (!settled || provider.webhooksUnanswered > 0) return [];
    const stored = new Set(receipts.map(({ messageId, status }) => `${messageId} ${status}`));
    const reports = messages.flatMap(({ id, sentAt, deliveredAt, readAt, failedAt }) =>
      Object.entries({ sent: sentAt, delivered: deliveredAt, read: readAt, failed: failedAt })
        .filter(([, at]) => at !== null)
        .map(([status]) => ({ status, isStored: stored.has(`${id} ${status}`) })),
    );
    return reports.map(({ status, isStored }) => !isStored && `a report “${status}” is not stored`);
  },
);

const RANK = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4 } as const;

const receiptsCount = ofEachSend(
  'receipts-count',
  'What the provider reported and we dealt with shows in the send: its status, and the time of each step.',
  ({ row, receipts }) => {
    const { status } = row;
    if (status === 'failed') return [];
    const reached = RANK[status as keyof typeof RANK];
    const times = { sent: row.sentAt, delivered: row.deliveredAt, read: row.readAt };
    return receipts.map(({ status: reported, result }) => {
      if (result === null || result === 'unmatched' || reported === 'failed') return false;
      return (
        (RANK[reported] > reached || times[reported] === null) && `${status} after a report “${reported}”`
      );
    });
  },
);

const reportedFailureCounts = ofEachSend(
  'reported-failure-counts',
  'A send of whose every message the provider reported the failure, and not the delivery, has failed.',
  (send, { settled }) => {
    const { row, messages, receipts } = send;
    const reported = new Set(
      receipts
        .filter(({ result, status }) => status === 'failed' && (result === 'applied' || result === 'ignored'))
        .map(({ messageId }) => messageId),
    );
    const isDead =
      messages.length > 0 &&
      messages.every(
        ({ id, deliveredAt, readAt }) => reported.has(id) && deliveredAt === null && readAt === null,
      );
    return [settled && row.status === 'sent' && isDead && 'sent, and every message has failed'];
  },
);

export const DELIVERY = [
  attemptsAreLimited,
  oneAttemptAtATime,
  noCallAfterFailure,
  noCallOnceAccepted,
  noCallForSettledCode,
  sentWasAccepted,
  acceptedIsSent,
  receiptsAreKept,
  receiptsCount,
  reportedFailureCounts,
];
