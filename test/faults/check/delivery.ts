import { ofEachSend, type SendFacts, type Invariants } from './facts.js';
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

const isSent = ({ row }: SendFacts): boolean =>
  row.mode === 'live' && ['sent', 'delivered', 'read'].includes(row.status);

const RANK = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4 } as const;

export const DELIVERY: Invariants = {
  /**
   * The provider is called for a send at most as often as configured, reassignments aside. Attempts that were released before any
   * call do not count either.
   */
  'attempts-are-limited': ofEachSend(({ row, attempts, requests }, { attemptsMax }) => {
    const called = new Set(requests.map(({ opaque }) => opaque));
    const counted = attempts.filter((attempt) => counts(attempt, requests) && called.has(attempt.id)).length;
    return [
      counted > attemptsMax && `${counted} calls`,
      row.attempts > attemptsMax && `${row.attempts} attempts in the row`,
    ];
  }),
  /**
   * At most one attempt of a send is open, and it is the one that the row of an undelivered send names. A receipt can settle a
   * send while a later attempt is open. If that attempt's worker dies then, nothing closes it, so a sent send may keep one open
   * attempt.
   */
  'one-attempt-at-a-time': ofEachSend(({ row, attempts }) => {
    const open = attempts.filter(({ outcome }) => outcome === null).map(({ id }) => id);
    const undelivered = row.status === 'queued' || row.status === 'sending';
    return [
      open.length > 1 && `${open.length} open attempts`,
      undelivered && open.length === 1 && open[0] !== row.attemptId && 'an attempt is open without a claim',
      undelivered && row.attemptId !== null && open.length === 0 && 'it is claimed, and no attempt is open',
    ];
  }),
  /**
   * No attempt begins after its send has failed. One statement writes a claim and its attempt, guarded by the row's version: no
   * race permits a later one.
   */
  'no-call-after-failure': ofEachSend(({ row, attempts }) => [
    row.failedAt !== null &&
      attempts.some(({ startedAt }) => startedAt > (row.failedAt as number)) &&
      'an attempt began after the failure',
  ]),
  /**
   * No attempt begins after the code was verified or locked. A claim and the judgement of a guess are guarded by the row's
   * version: the later one has seen the other. The evidence has times in whole milliseconds.
   */
  'no-call-for-a-settled-code': ofEachSend(({ row, attempts }) => {
    const settledAt = row.verifiedAt ?? row.lockedAt;
    return [
      settledAt !== null &&
        attempts.some(({ startedAt }) => startedAt > settledAt + 1) &&
        `an attempt began after the code was ${row.verification}`,
    ];
  }),
  /**
   * No attempt begins after another was known to be accepted. An outcome `accepted` is written together with the status `sent`,
   * or later.
   */
  'no-call-once-accepted': ofEachSend(({ attempts }) => {
    const known = attempts
      .filter(({ outcome, finishedAt }) => outcome === 'accepted' && finishedAt !== null)
      .map(({ finishedAt }) => finishedAt as number);
    const first = Math.min(...known);
    return [attempts.some(({ startedAt }) => startedAt > first) && 'an attempt began after one was accepted'];
  }),
  /** A live send is sent, delivered or read only if the provider accepted a message for it. */
  'sent-was-accepted': ofEachSend((send) => [
    isSent(send) && send.messages.length === 0 && `${send.row.status} without a message`,
  ]),
  /** A send with an accepted attempt is sent, unless it had failed before. */
  'accepted-is-sent': ofEachSend(({ row, attempts }) => [
    (row.status === 'queued' || row.status === 'sending') &&
      attempts.some(({ outcome }) => outcome === 'accepted') &&
      `${row.status} with an accepted attempt`,
  ]),
  /**
   * Every report of the provider that was answered with 200 is stored. After our 200 the provider never repeats a report, so none
   * of them may be missing.
   */
  'receipts-are-kept': ofEachSend(({ messages, receipts }, { settled, provider }) => {
    if (!settled || provider.webhooksUnanswered > 0) return [];
    const stored = new Set(receipts.map(({ messageId, status }) => `${messageId} ${status}`));
    const reports = messages.flatMap(({ id, sentAt, deliveredAt, readAt, failedAt }) =>
      Object.entries({ sent: sentAt, delivered: deliveredAt, read: readAt, failed: failedAt })
        .filter(([, at]) => at !== null)
        .map(([status]) => ({ status, isStored: stored.has(`${id} ${status}`) })),
    );
    return reports.map(({ status, isStored }) => !isStored && `a report “${status}” is not stored`);
  }),
  /** Every processed receipt shows in the send: in its status and in the time of each step. */
  'receipts-count': ofEachSend(({ row, receipts }) => {
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
  }),
  /** A send has failed if the provider reported the failure, and no delivery, of all its messages. */
  'reported-failure-counts': ofEachSend((send, { settled }) => {
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
  }),
};
