import { ofEachSend, type Invariants } from './facts.js';
import type { SendRow } from '../evidence.js';

/** How long a send may be overdue at the end of a run: longer than any sweep takes. */
const OVERDUE_MS = 10_000;
/** The longest delay that a provider may ask for (`packages/domain/src/retry.ts`). */
const DELAY_MS_MAX = 900_000;

/** Whether the send is to go out, for the first time or again. */
const isUndelivered = ({ status, lostAt }: SendRow): boolean =>
  status === 'queued' || status === 'sending' || lostAt !== null;

export const COMPLETION: Invariants = {
  /** An undelivered send is due by its deadline, or by the longest delay after it. */
  'due-before-the-deadline': ofEachSend(({ row: { dueAt, expiresAt, status } }, { rows: { now } }) => [
    dueAt !== null &&
      dueAt > Math.max(expiresAt, now) + DELAY_MS_MAX &&
      `${status}, and due only long after its deadline`,
  ]),
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
  'settled-code-awaits-nobody': ofEachSend(({ row }) => [
    row.awaitingSender && (row.verifiedAt ?? row.lockedAt) !== null && `${row.verification}, and it waits`,
  ]),
  /** No attempt of a failed send is open. */
  'no-attempt-of-a-failed-send': ofEachSend(({ row }) => [
    row.status === 'failed' && row.isClaimed && 'failed, and an attempt is open',
  ]),
  /** A send that is not to go out again has no sealed code once its code is settled. */
  'no-sealed-code-once-settled': ofEachSend(({ row }) => [
    row.hasSealedCode &&
      !isUndelivered(row) &&
      row.verification !== 'pending' &&
      `${row.status} and ${row.verification}, with its sealed code`,
  ]),
  /** At the end of a run, every stored report has been applied. */
  'receipts-dealt-with': ({ rows: { receiptsLeft }, settled }) =>
    settled && receiptsLeft > 0 ? [`${receiptsLeft} receipts were not applied`] : [],
};
