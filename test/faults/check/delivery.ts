import { isDelivering, ofEachSend, type SendFacts, type Invariants } from './facts.js';
import type { AttemptRow } from '../evidence.js';

/** Limits of the provider, with equivalent HTTP statuses without a code. */
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
   * The provider is called for a send at most as often as configured, reassignments aside. Attempts without a call do not count either.
   */
  'attempts-are-limited': ofEachSend(({ row, attempts, requests }, { attemptsMax }) => {
    const called = new Set(requests.map(({ opaque }) => opaque));
    const counted = attempts.filter((attempt) => counts(attempt, requests) && called.has(attempt.id)).length;
    return [
      counted > attemptsMax && `${counted} calls`,
      row.attempts > attemptsMax && `${row.attempts} attempts in the row`,
    ];
  }),
  /** A claim belongs to the latest call, which the row numbers: no earlier call is pending. */
  'one-attempt-at-a-time': ofEachSend(({ row, attempts }) => [
    attempts.length > row.attemptNumber && `${attempts.length} attempts, numbered to ${row.attemptNumber}`,
    !row.isClaimed &&
      attempts.some(({ outcome }) => outcome === null) &&
      'an attempt is open without a claim',
  ]),
  /**
   * No attempt begins after its send has failed. A claim locks the row and checks its phase, and a failure is guarded by the
   * row's version: no race permits a later one.
   */
  'no-call-after-failure': ofEachSend(({ row, attempts }) => [
    row.failedAt !== null &&
      attempts.some(({ startedAt }) => startedAt > (row.failedAt as number)) &&
      'an attempt began after the failure',
  ]),
  /**
   * No attempt begins after the code was verified or locked. A claim locks the row, and the judgement of a guess is guarded by
   * its version: the later one has seen the other. The evidence has times in whole milliseconds.
   */
  'no-call-for-a-finished-code': ofEachSend(({ row, attempts }) => {
    const finishedAt = row.verifiedAt ?? row.lockedAt;
    return [
      finishedAt !== null &&
        attempts.some(({ startedAt }) => startedAt > finishedAt + 1) &&
        `an attempt began after the code was ${row.verification}`,
    ];
  }),
  /**
   * No attempt begins after another was known to be accepted. An outcome `accepted` is written together with the status `sent`,
   * or later.
   */
  'no-call-after-acceptance': ofEachSend(({ attempts }) => {
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
   * Every report of the provider that was answered with 200 shows in the send: in its status and in the time of each step. After our 200
   * the provider never repeats a report, so none of them may be missing.
   */
  'reports-show-in-send': ofEachSend(({ row, messages, attempts }, { finished, provider }) => {
    const { status } = row;
    if (!finished || provider.webhooksUnanswered > 0 || status === 'failed') return [];
    const reached = RANK[status as keyof typeof RANK];
    const times = { sent: row.sentAt, delivered: row.deliveredAt, read: row.readAt };
    return messages.flatMap(({ sentAt, deliveredAt, readAt, failedAt, opaque }) => [
      ...Object.entries({ sent: sentAt, delivered: deliveredAt, read: readAt })
        .filter(([, at]) => at !== null)
        .map(([name]) => name as keyof typeof times)
        .map(
          (reported) =>
            (RANK[reported] > reached || times[reported] === null) &&
            `${status} after a report “${reported}”`,
        ),
      failedAt !== null &&
        attempts.find(({ id }) => id === opaque)?.reportedAt === null &&
        'a report “failed” is not recorded',
    ]);
  }),
  /**
   * A send has failed if the provider reported the failure, and no delivery, of all its messages, unless a right code proved before that
   * one had arrived.
   */
  'reported-failure-fails-send': ofEachSend((send, { finished }) => {
    const { row, messages } = send;
    const isDead =
      messages.length > 0 &&
      messages.every(
        ({ failedAt, deliveredAt, readAt }) => failedAt !== null && deliveredAt === null && readAt === null,
      );
    const isOver = finished && row.status === 'sent' && !isDelivering(row) && row.verification !== 'verified';
    return [isOver && isDead && 'sent, and every message has failed'];
  }),
};
