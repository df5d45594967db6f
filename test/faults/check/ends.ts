import { ofEachSend, type Invariant } from './facts.js';
import type { SendRow } from '../evidence.js';

/** How far behind a send's due time may be when everything has come to rest: more than any sweep takes. */
const OVERDUE_MS = 10_000;
/** A job that is further away than this beyond its time will not come in this run. */
const ENQUEUE_MS_MAX = 60_000;
/** The longest wait that a provider is granted (`packages/domain/src/retry.ts`). */
const WAIT_MS_MAX = 900_000;

const isUndelivered = ({ status }: SendRow): boolean => status === 'queued' || status === 'sending';

const waitingIsRung = ofEachSend(
  'waiting-is-enqueued',
  'A send that is not delivered yet will be looked at again, soon after it is due; any other has nothing due.',
  ({ row }, { rows: { now } }) => {
    const { dueAt, nextEnqueueAt, status } = row;
    if (!isUndelivered(row))
      return [(dueAt !== null || nextEnqueueAt !== null) && `${status}, and something is due`];
    if (dueAt === null || nextEnqueueAt === null) return [`${status}, and nothing will enqueue it`];
    return [
      nextEnqueueAt > Math.max(dueAt, now) + ENQUEUE_MS_MAX &&
        `${status}, and its job comes long after it is due`,
      dueAt > Math.max(row.expiresAt, now) + WAIT_MS_MAX && `${status}, and due only long after its deadline`,
    ];
  },
);

const nothingIsLeft = ofEachSend(
  'nothing-is-left',
  'When all faults are over, every send has come to its end or waits for a time or a sender that has not come.',
  ({ row }, { settled, rows: { now } }) => {
    if (!settled || !isUndelivered(row)) return [];
    const { dueAt, awaitingSender, mode, status, expiresAt } = row;
    if (mode === 'test') return [now - row.createdAt > OVERDUE_MS && `test, and still ${status}`];
    const deadline = awaitingSender ? expiresAt : dueAt;
    return [
      deadline !== null && now - deadline > OVERDUE_MS && `${status}, overdue since ${deadline - now} ms`,
    ];
  },
);

const settledCodeAwaitsNobody = ofEachSend(
  'settled-code-awaits-nobody',
  'A send whose code was verified or locked waits for no sender.',
  ({ row }) => [
    row.awaitingSender && (row.verifiedAt ?? row.lockedAt) !== null && `${row.verification}, and it waits`,
  ],
);

const failedSaysWhy = ofEachSend(
  'failed-says-why',
  'A failed send has a time and a reason, and no other has; nothing of it is under way.',
  ({ row }) => {
    const failed = row.status === 'failed';
    const told = row.failedAt !== null && row.failureReason !== null;
    const untold = row.failedAt === null && row.failureReason === null;
    return [
      !(failed ? told : untold) && `${row.status}, failed at ${row.failedAt}, reason ${row.failureReason}`,
      failed && (row.attemptId !== null || row.awaitingSender) && 'failed, and something is under way',
    ];
  },
);

const boxWhileNeeded = ofEachSend(
  'box-while-needed',
  'The sealed code is there while a live send is to be delivered, and erased at its end; a test send has none.',
  ({ row }) => {
    const needed = row.mode === 'live' && isUndelivered(row);
    return [
      row.hasSealedCode !== needed &&
        `${row.mode} ${row.status} ${row.hasSealedCode ? 'with' : 'without'} its code`,
    ];
  },
);

const receiptsDealtWith: Invariant = {
  name: 'receipts-dealt-with',
  promise:
    'When all faults are over, every stored receipt was applied; none of a message of ours was put aside.',
  find: ({ rows, settled, provider }) => {
    if (!settled) return [];
    const attemptIds = new Set(rows.attempts.map(({ id }) => id));
    const ours = new Set(
      provider.messages.filter(({ opaque }) => attemptIds.has(opaque ?? '')).map(({ id }) => id),
    );
    const due = rows.receipts.filter(({ result }) => result === null).length;
    const aside = rows.receipts.filter(
      ({ result, messageId, attemptId }) =>
        result === 'unmatched' && (attemptIds.has(attemptId ?? '') || ours.has(messageId)),
    ).length;
    return [
      ...(due > 0 ? [`${due} receipts were not applied`] : []),
      ...(aside > 0 ? [`${aside} receipts of our messages were put aside`] : []),
    ];
  },
};

export const ENDS = [
  waitingIsRung,
  nothingIsLeft,
  settledCodeAwaitsNobody,
  failedSaysWhy,
  boxWhileNeeded,
  receiptsDealtWith,
];
