import type { SendView } from '@onecode/testing';
import { ofEachSend, type Facts, type SendFacts, type Sight } from './facts.js';
import type { SendRow } from '../evidence.js';

/** What the clocks of the run and of the database may differ by, and what a request may be away from either. */
const CLOCK_MS = 2_000;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** What the API shows of a row, the sender aside. */
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

/** The row as the last sight of all. */
function lastSight(row: SendRow, now: number): Sight & { view: SendView } {
  const verification = row.verification === 'pending' && now >= row.expiresAt ? 'expired' : row.verification;
  return { startedAt: Infinity, endedAt: Infinity, view: viewOf(row, verification), verification };
}

/**
 * Pairs of sights of which the first had ended before the second began. Nothing is known about the order of others: their
 * answers may have been made in any.
 */
function orderedPairs({ sights, row }: SendFacts, { rows }: Facts): [earlier: Sight, later: Sight][] {
  const all = [...sights, lastSight(row, rows.now)];
  return all.flatMap((later, n) =>
    all
      .slice(0, n)
      .filter((earlier) => earlier.endedAt < later.startedAt)
      .map((earlier): [Sight, Sight] => [earlier, later]),
  );
}

const ORDER = ['queued', 'sending', 'sent', 'delivered', 'read'];

/** Forward, or to failed before delivery was confirmed. */
function mayFollow(earlier: string, later: string): boolean {
  if (earlier === later) return true;
  if (earlier === 'failed') return false;
  if (later === 'failed') return ORDER.indexOf(earlier) <= ORDER.indexOf('sent');
  return ORDER.indexOf(later) > ORDER.indexOf(earlier);
}

const statusMovesForward = ofEachSend(
  'status-moves-forward',
  'No client ever sees the status move back, or failed become anything else.',
  (send, facts) => [
    ...new Set(
      orderedPairs(send, facts).map(
        ([{ view: earlier }, { view: later }]) =>
          earlier !== null &&
          later !== null &&
          !mayFollow(earlier.status, later.status) &&
          `${earlier.status} became ${later.status}`,
      ),
    ),
  ],
);

const verificationMovesForward = ofEachSend(
  'verification-moves-forward',
  'A pending code becomes verified, locked or expired, and stays so.',
  (send, facts) => [
    ...new Set(
      orderedPairs(send, facts).map(
        ([earlier, later]) =>
          earlier.verification !== 'pending' &&
          earlier.verification !== later.verification &&
          `${earlier.verification} became ${later.verification}`,
      ),
    ),
  ],
);

const TIMES = ['sent_at', 'delivered_at', 'read_at', 'verified_at', 'failed_at', 'failure_reason'] as const;

const timesStay = ofEachSend(
  'times-stay',
  'A time that a client has seen never changes or vanishes.',
  (send, facts) => [
    ...new Set(
      orderedPairs(send, facts).flatMap(([{ view: earlier }, { view: later }]) =>
        earlier === null || later === null
          ? []
          : TIMES.map(
              (time) =>
                earlier[time] !== null &&
                earlier[time] !== later[time] &&
                `${time} changed from ${earlier[time]} to ${later[time]}`,
            ),
      ),
    ),
  ],
);

const constantsStay = ofEachSend(
  'constants-stay',
  'Mode, creation time and deadline of a send are the same in every answer and in its row.',
  ({ sights, row }, { rows }) => {
    const last = lastSight(row, rows.now).view;
    return (['mode', 'created_at', 'expires_at'] as const).map((name) => {
      const other = sights.find(({ view }) => view !== null && view[name] !== last[name])?.view;
      return other != null && `${name} was ${other[name]} and is ${last[name]}`;
    });
  },
);

const viewAgreesWithItself = ofEachSend(
  'view-agrees-with-itself',
  'A status comes with its times, a failure with its reason, and times in their order.',
  ({ sights }) =>
    sights.flatMap(({ view }) => {
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
);

const createdWhenAsked = ofEachSend(
  'created-when-asked',
  'Times are the database’s, whatever the clock of an API says: a send is created between its first request and its first answer.',
  (send, { creationsByKey, clockStart }) => {
    const { row, creations } = send;
    const answeredBy = Math.min(...creations.map(({ endedAt }) => endedAt));
    const asked = creations.flatMap((creation) => [
      creation,
      ...(creationsByKey.get(`${creation.applicationId} ${creation.idempotencyKey}`) ?? []),
    ]);
    const askedFrom = Math.min(...asked.map(({ startedAt }) => startedAt));
    const at = row.createdAt - clockStart;
    return [
      creations.length > 0 &&
        (at < askedFrom - CLOCK_MS || at > answeredBy + CLOCK_MS) &&
        `created ${Math.round(at - askedFrom)} ms after its request began`,
    ];
  },
);

const expiresOnTime = ofEachSend(
  'expires-on-time',
  'A code is expired after its deadline by the database’s clock and never before, whatever the clock of an API says.',
  ({ row, sights }, { clockStart }) =>
    sights.flatMap(({ startedAt, endedAt, verification }) => {
      const deadline = row.expiresAt - clockStart;
      return [
        verification === 'expired' && endedAt < deadline - CLOCK_MS && 'expired before its deadline',
        verification === 'pending' && startedAt > deadline + CLOCK_MS && 'pending after its deadline',
      ];
    }),
);

export const VIEWS = [
  statusMovesForward,
  verificationMovesForward,
  timesStay,
  constantsStay,
  viewAgreesWithItself,
  createdWhenAsked,
  expiresOnTime,
];
