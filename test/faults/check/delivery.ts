import { ofEachSend, type SendFacts } from './facts.js';
import type { AttemptRow } from '../evidence.js';

/** Limits of the provider, with the HTTP statuses that say the same without a code. */
const THROTTLES = new Set([4, 80007, 130429, 131056]);
const THROTTLE_STATUSES = new Set([429, 503]);

/** Attempts that were the fault of a sender or an account, or met a limit, do not count. */
function counts({ id, outcome, errorCode }: AttemptRow, requests: SendFacts['requests']): boolean {
  if (outcome === 'sender' || outcome === 'config') return false;
  if (outcome !== 'retry') return true;
  if (errorCode !== null) return !THROTTLES.has(errorCode);
  const http = requests.find(({ opaque }) => opaque === id)?.http ?? 0;
  return !THROTTLE_STATUSES.has(http);
}

/** Attempts that were released before any call do not count either. */
const attemptsAreLimited = ofEachSend(
  'attempts-are-limited',
  'The provider is called for a send at most as often as configured, reassignments aside.',
  ({ row, attempts, requests }, { attemptsMax }) => {
    const called = new Set(requests.map(({ opaque }) => opaque));
    const counted = attempts.filter((attempt) => counts(attempt, requests) && called.has(attempt.id)).length;
    return [
      counted > attemptsMax && `${counted} calls`,
      row.attempts > attemptsMax && `${row.attempts} attempts in the row`,
    ];
  },
);

/**
 * A receipt can settle a send while a later attempt is open. If that attempt's worker dies then, nothing closes it, so a sent send may
 * keep one open attempt.
 */
const oneAttemptAtATime = ofEachSend(
  'one-attempt-at-a-time',
  'At most one attempt of a send is open, and it is the one that the row of an undelivered send names.',
  ({ row, attempts }) => {
    const open = attempts.filter(({ outcome }) => outcome === null).map(({ id }) => id);
    const undelivered = row.status === 'queued' || row.status === 'sending';
    return [
      open.length > 1 && `${open.length} open attempts`,
      undelivered && open.length === 1 && open[0] !== row.attemptId && 'an attempt is open without a claim',
      undelivered && row.attemptId !== null && open.length === 0 && 'it is claimed, and no attempt is open',
    ];
  },
);

/** One statement writes a claim and its attempt, guarded by the row's version: no race permits a later one. */
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
 * A claim and the judgement of a guess are guarded by the row's version: the later one has seen the other. The evidence has times in
 * whole milliseconds.
 */
const noCallForSettledCode = ofEachSend(
  'no-call-for-a-settled-code',
  'No attempt begins after the code was verified or locked.',
  ({ row, attempts }) => {
    const settledAt = row.verifiedAt ?? row.lockedAt;
    return [
      settledAt !== null &&
        attempts.some(({ startedAt }) => startedAt > settledAt + 1) &&
        `an attempt began after the code was ${row.verification}`,
    ];
  },
);

/** An outcome `accepted` is written together with the status `sent`, or later. */
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
  'A live send is sent, delivered or read only if the provider accepted a message for it.',
  (send) => [isSent(send) && send.messages.length === 0 && `${send.row.status} without a message`],
);

const acceptedIsSent = ofEachSend(
  'accepted-is-sent',
  'A send with an accepted attempt is sent, unless it had failed before.',
  ({ row, attempts }) => [
    (row.status === 'queued' || row.status === 'sending') &&
      attempts.some(({ outcome }) => outcome === 'accepted') &&
      `${row.status} with an accepted attempt`,
  ],
);

/** After our 200 the provider never repeats a report, so none of them may be missing. */
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
  'Every processed receipt shows in the send: in its status and in the time of each step.',
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
  'A send has failed if the provider reported the failure, and no delivery, of all its messages.',
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
    const isOver = settled && row.status === 'sent' && row.lostAt === null;
    return [isOver && isDead && 'sent, and every message has failed'];
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
