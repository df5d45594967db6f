import { isDelivering, ofEachSend, type Invariants } from './facts.js';

/** Maximum time that a send may be overdue at the end of a run: longer than any sweep. */
const OVERDUE_MS = 10_000;
/** The longest delay that a provider may ask for (`PROVIDER_WAIT_MS_MAX`). */
const DELAY_MS_MAX = 900_000;

export const COMPLETION: Invariants = {
  /** A send that may be sent is due, and any other send is not. Its phase fits its status. */
  'due-while-delivering': ofEachSend(({ row }, { rows: { now } }) => {
    const { dueAt, status, phase } = row;
    if (status !== 'sent' && (status === 'queued' || status === 'sending') !== isDelivering(row))
      return [`${status}, and ${phase}`];
    if (!isDelivering(row)) return [dueAt !== null && `${phase}, and something is due`];
    if (dueAt === null) return [`${phase}, and never due`];
    return [
      dueAt > Math.max(row.expiresAt, now) + DELAY_MS_MAX &&
        `${status}, and due only long after its deadline`,
    ];
  }),
  /** At the end of a run, every send is finished, or waits for a time or for a sender. */
  'no-work-is-left': ofEachSend(({ row }, { finished, rows: { now } }) => {
    if (!finished || !isDelivering(row)) return [];
    const { dueAt, mode, status } = row;
    if (mode === 'test') return [now - row.createdAt > OVERDUE_MS && `test, and still ${status}`];
    return [dueAt !== null && now - dueAt > OVERDUE_MS && `${status}, overdue since ${dueAt - now} ms`];
  }),
  /** A failed send has a time and a reason, and no other send has. No attempt of it is open. */
  'failure-has-time-and-reason': ofEachSend(({ row }) => {
    const failed = row.status === 'failed';
    const isExplained = row.failedAt !== null && row.failureReason !== null;
    const isUnexplained = row.failedAt === null && row.failureReason === null;
    return [
      !(failed ? isExplained : isUnexplained) &&
        `${row.status}, failed at ${row.failedAt}, reason ${row.failureReason}`,
      failed && (row.isClaimed || row.phase !== 'done') && 'failed, and an attempt is open or it is not done',
    ];
  }),
  /** A live send has its encrypted code until its message is delivered, its code has expired or it has failed. A test send has none. */
  'encrypted-code-while-needed': ofEachSend(({ row }) => {
    const isNeeded = row.mode === 'live' && isDelivering(row);
    // A sent message may still turn out to be lost. A loop erases its code after the deadline.
    const isAllowed = isNeeded || (row.mode === 'live' && row.phase === 'unconfirmed');
    return [
      ((isNeeded && !row.hasEncryptedCode) || (row.hasEncryptedCode && !isAllowed)) &&
        `${row.mode} ${row.status} ${row.hasEncryptedCode ? 'with' : 'without'} its encrypted code`,
    ];
  }),
  /** At the end of a run, every stored report has been applied. */
  'reports-are-applied': ({ rows: { receiptsLeft }, finished }) =>
    finished && receiptsLeft > 0 ? [`${receiptsLeft} receipts were not applied`] : [],
};
