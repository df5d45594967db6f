import type { SendView } from '@onecode/testing';
import { ofEachSend, type Facts, type SendFacts, type Observation, type Invariants } from './facts.js';
import type { SendRow } from '../evidence.js';

/** How much the clocks of the run and of the database may differ. */
const CLOCK_MS = 2_000;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The API's view of a row, without the sender. */
export function viewOf(row: SendRow, verification: string): SendView {
  return {
    id: row.id,
    status: row.status,
    verification,
    mode: row.mode,
    channel: null,
    from: null,
    expires_at: new Date(row.expiresAt).toISOString(),
    created_at: new Date(row.createdAt).toISOString(),
    sent_at: iso(row.sentAt),
    delivered_at: iso(row.deliveredAt),
    read_at: iso(row.readAt),
    verified_at: iso(row.verifiedAt),
    failed_at: iso(row.failedAt),
    failure_reason: row.failureReason,
  };
}

/** The row at the end of the run, as a final observation. */
function finalObservation(row: SendRow, now: number): Observation & { view: SendView } {
  const verification = row.verification === 'pending' && now >= row.expiresAt ? 'expired' : row.verification;
  return { startedAt: Infinity, endedAt: Infinity, view: viewOf(row, verification), verification };
}

/**
 * Pairs of observations of which the first request ended before the second began. Requests that overlap may have been carried out in
 * either order.
 */
function orderedPairs(
  { observations, row }: SendFacts,
  { rows }: Facts,
): [earlier: Observation, later: Observation][] {
  const all = [...observations, finalObservation(row, rows.now)];
  return all.flatMap((later, n) =>
    all
      .slice(0, n)
      .filter((earlier) => earlier.endedAt < later.startedAt)
      .map((earlier): [Observation, Observation] => [earlier, later]),
  );
}

const ORDER = ['queued', 'sending', 'sent', 'delivered', 'read'];

/** Statuses move forward, or to failed before the delivery was confirmed. */
function mayFollow(earlier: string, later: string): boolean {
  if (earlier === later) return true;
  if (earlier === 'failed') return false;
  if (later === 'failed') return ORDER.indexOf(earlier) <= ORDER.indexOf('sent');
  return ORDER.indexOf(later) > ORDER.indexOf(earlier);
}

const TIMES = ['sent_at', 'delivered_at', 'read_at', 'verified_at', 'failed_at', 'failure_reason'] as const;

const lostAMessage = ({ messages }: SendFacts): boolean => messages.some(({ failedAt }) => failedAt !== null);

export const VIEWS: Invariants = {
  /** No client sees a status move back, or a failed send become anything else. */
  'status-moves-forward': ofEachSend((send, facts) => [
    ...new Set(
      orderedPairs(send, facts).map(
        ([{ view: earlier }, { view: later }]) =>
          earlier !== null &&
          later !== null &&
          !mayFollow(earlier.status, later.status) &&
          `${earlier.status} became ${later.status}`,
      ),
    ),
  ]),
  /** A pending code becomes verified, locked or expired, and then stays the same. */
  'verification-moves-forward': ofEachSend((send, facts) => [
    ...new Set(
      orderedPairs(send, facts).map(
        ([earlier, later]) =>
          earlier.verification !== 'pending' &&
          earlier.verification !== later.verification &&
          `${earlier.verification} became ${later.verification}`,
      ),
    ),
  ]),
  /** A time that a client has seen never changes or disappears, except the time of sending after a message was reported as lost. */
  'times-do-not-change': ofEachSend((send, facts) => [
    ...new Set(
      orderedPairs(send, facts).flatMap(([{ view: earlier }, { view: later }]) =>
        earlier === null || later === null
          ? []
          : TIMES.map(
              (time) =>
                !(time === 'sent_at' && send.messages.length > 1 && lostAMessage(send)) &&
                earlier[time] !== null &&
                earlier[time] !== later[time] &&
                `${time} changed from ${earlier[time]} to ${later[time]}`,
            ),
      ),
    ),
  ]),
  /** Mode, creation time and deadline of a send are the same in every answer and in its row. */
  'constants-do-not-change': ofEachSend(({ observations, row }, { rows }) => {
    const last = finalObservation(row, rows.now).view;
    return (['mode', 'created_at', 'expires_at'] as const).map((name) => {
      const other = observations.find(({ view }) => view !== null && view[name] !== last[name])?.view;
      return other != null && `${name} was ${other[name]} and is ${last[name]}`;
    });
  }),
  /** Every status has its times, every failure its reason, and times are in order. */
  'view-is-consistent': ofEachSend(({ observations }) =>
    observations.flatMap(({ view }) => {
      if (view === null) return [];
      const { status, verification, sent_at, delivered_at, read_at, verified_at, failed_at } = view;
      const times = [view.created_at, sent_at, delivered_at, read_at].filter((time) => time !== null);
      return [
        status === 'sent' && sent_at === null && 'sent without its time',
        status === 'delivered' && delivered_at === null && 'delivered without its time',
        status === 'read' && read_at === null && 'read without its time',
        (status === 'failed') !== (failed_at !== null) && `${status}, failed at ${failed_at}`,
        (status === 'failed') !== (view.failure_reason !== null) &&
          `${status}, reason ${view.failure_reason}`,
        (verification === 'verified') !== (verified_at !== null) &&
          `${verification}, verified at ${verified_at}`,
        times.some((time, n) => time < (times[n - 1] ?? time)) && 'times out of order',
      ];
    }),
  ),
  /** Times come from the database's clock, not from an API’s: a send is created between its first request and its first answer. */
  'created-during-request': ofEachSend((send, { creationsByKey, clockStart }) => {
    const { row, creations } = send;
    const answeredBy = Math.min(...creations.map(({ endedAt }) => endedAt));
    const requests = creations.flatMap((creation) => [
      creation,
      ...(creationsByKey.get(`${creation.applicationId} ${creation.idempotencyKey}`) ?? []),
    ]);
    const requestedFrom = Math.min(...requests.map(({ startedAt }) => startedAt));
    const at = row.createdAt - clockStart;
    return [
      creations.length > 0 &&
        (at < requestedFrom - CLOCK_MS || at > answeredBy + CLOCK_MS) &&
        `created ${Math.round(at - requestedFrom)} ms after its request began`,
    ];
  }),
  /** A code expires at its deadline by the database’s clock and never before, also if an API’s clock is wrong. */
  'expires-on-time': ofEachSend(({ row, observations }, { clockStart }) =>
    observations.flatMap(({ startedAt, endedAt, verification }) => {
      const deadline = row.expiresAt - clockStart;
      return [
        verification === 'expired' && endedAt < deadline - CLOCK_MS && 'expired before its deadline',
        verification === 'pending' && startedAt > deadline + CLOCK_MS && 'pending after its deadline',
      ];
    }),
  ),
};
