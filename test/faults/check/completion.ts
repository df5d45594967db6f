import { ofEachSend, type Invariants } from './facts.js';
import type { SendRow } from '../evidence.js';

/** How long a send may be overdue at the end of a run: longer than any sweep takes. */
const OVERDUE_MS = 10_000;
/** The longest delay that a provider may ask for (`packages/domain/src/sends/retry.ts`). */
const DELAY_MS_MAX = 900_000;

/** Whether the send is to go out, for the first time or again. */
const isUndelivered = ({ status, lostAt }: SendRow): boolean =>
  status === 'queued' || status === 'sending' || lostAt !== null;

export const COMPLETION: Invariants = {
  /** An undelivered send is due, and any other send is not. */
  'undelivered-is-due': ofEachSend(({ row }, { rows: { now } }) => {
    const { dueAt, status } = row;
    if (!isUndelivered(row)) return [dueAt !== null && `${status}, and something is due`];
    if (dueAt === null) return [`${status}, and never due`];
    return [
      dueAt > Math.max(row.expiresAt, now) + DELAY_MS_MAX &&
        `${status}, and due only long after its deadline`,
    ];
  }),
  /** At the end of a run, every send is finished, or waits for a time or for a sender. */
  'nothing-is-left': ofEachSend(({ row }, { settled, rows: { now } }) => {
    if (!settled || !isUndelivered(row)) return [];
    const { dueAt, awaitingSender, mode, status, expiresAt } = row;
    if (mode === 'test') return [now - row.createdAt > OVERDUE_MS && `test, and still ${status}`];
    const deadline = awaitingSender ? expiresAt : dueAt;
    return [
      deadline !== null && now - deadline > OVERDUE_MS && `${status}, overdue since ${deadline - now} ms`,
    ];
  }),
  /** A send whose code is verified or locked waits for no sender. */
  'settled-code-does-not-wait': ofEachSend(({ row }) => [
    row.awaitingSender && (row.verifiedAt ?? row.lockedAt) !== null && `${row.verification}, and it waits`,
  ]),
  /** A failed send has a time and a reason, and no other send has. No attempt of it is open. */
  'failed-says-why': ofEachSend(({ row }) => {
    const failed = row.status === 'failed';
    const isExplained = row.failedAt !== null && row.failureReason !== null;
    const isUnexplained = row.failedAt === null && row.failureReason === null;
    return [
      !(failed ? isExplained : isUnexplained) &&
        `${row.status}, failed at ${row.failedAt}, reason ${row.failureReason}`,
      failed &&
        (row.isClaimed || row.awaitingSender) &&
        'failed, and an attempt is open or it waits for a sender',
    ];
  }),
  /**
   * A live send has its sealed code until its message is delivered, its code settled or it has failed, and no longer. A test send
   * has none.
   */
  'sealed-code-while-needed': ofEachSend(({ row }) => {
    const isNeeded = row.mode === 'live' && isUndelivered(row);
    // A sent message may still turn out to be lost.
    const isAllowed =
      isNeeded || (row.mode === 'live' && row.status === 'sent' && row.verification === 'pending');
    return [
      ((isNeeded && !row.hasSealedCode) || (row.hasSealedCode && !isAllowed)) &&
        `${row.mode} ${row.status} ${row.hasSealedCode ? 'with' : 'without'} its sealed code`,
    ];
  }),
  /** At the end of a run, every stored report has been applied. */
  'receipts-dealt-with': ({ rows: { receiptsLeft }, settled }) =>
    settled && receiptsLeft > 0 ? [`${receiptsLeft} receipts were not applied`] : [],
};
