import { type Decision, type ReportedAttempt, type Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import {
  readReportedSend,
  readSend,
  type ReadRow,
  type ReportedRow,
  type WhichReport,
  type WhichSend,
} from './readSend.js';
import { sendOf } from './sendRow.js';
import type { Change } from './changeBatcher.js';
import { writeDelivery } from './writeDelivery.js';

/** More rounds than this mean that something changes one row again and again. */
const ROUNDS_MAX = 1000;

/**
 * Changes a send by a rule: reads the row with the database's clock, asks the pure `decide` what to do, and writes the answer guarded by the
 * row's version. When another change was faster, it reads and decides again. A failure's refund and the outcomes of attempts are in the same
 * statement as the change. Simultaneous changes of many sends share round trips.
 *
 * @returns the decision's result after the commit, or null when there is no such send
 */
export async function changeSend<R>(
  database: Database,
  which: WhichSend,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const changed = await repeatUntilWritten(database, () => readSend(database, which), decide);
  return changed?.result ?? null;
}

/** A send as a change left it. Another change may have followed since. */
export interface SendSnapshot {
  send: Send;
  version: number;
  /** The database's clock, by `performance.now()`. */
  now: () => Date;
}

/** `changeSend` from a snapshot: tries the change without reading the row, and reads it when another change was faster. */
export async function changeSendSnapshot<R>(
  database: Database,
  { send, version, now }: SendSnapshot,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const at = now();
  const decision = decide(send, at);
  if (!isNothing(decision) && (await write(database, changeOf(send, version, at, decision))))
    return decision.result;
  return changeSend(database, { id: send.id }, decide);
}

/**
 * `changeSend` for the send whose attempt a receipt reports on.
 *
 * @returns the result with the send as it is then, or null when no attempt of ours matches
 */
export async function changeReportedSend<R>(
  database: Database,
  which: WhichReport,
  decide: (send: Send, now: Date, attempt: ReportedAttempt) => Decision<R>,
): Promise<Changed<R> | null> {
  return repeatUntilWritten(
    database,
    () => readReportedSend(database, which),
    (send, now, row) => decide(send, now, reportedAttemptOf(row)),
  );
}

/** The send and the attempt that a receipt reports on, or null when no attempt of ours matches. */
export async function findReportedSend(
  database: Database,
  which: WhichReport,
): Promise<{ send: Send; attempt: ReportedAttempt } | null> {
  const row = await readReportedSend(database, which);
  return row === undefined ? null : { send: sendOf(row), attempt: reportedAttemptOf(row) };
}

function reportedAttemptOf(row: ReportedRow): ReportedAttempt {
  return {
    number: row.number,
    senderId: row.senderId,
    phoneNumberId: row.phoneNumberId,
    startedAt: row.startedAt,
    outcome: row.outcome,
    otherIsAccepted: row.otherIsAccepted,
    recipientKey: row.recipientKey,
  };
}

/** A change that was committed. */
export interface Changed<R> {
  result: R;
  /** The send as the change left it. */
  snapshot: SendSnapshot;
}

async function repeatUntilWritten<Row extends ReadRow, R>(
  database: Database,
  read: () => Promise<Row | undefined>,
  decide: (send: Send, now: Date, row: Row) => Decision<R>,
): Promise<Changed<R> | null> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const row = await read();
    if (row === undefined) return null;
    const readAt = performance.now();
    const send = sendOf(row);
    const decision = decide(send, row.now, row);
    const nothing = isNothing(decision);
    if (!nothing && !(await write(database, changeOf(send, row.version, row.now, decision)))) continue;
    const snapshot: SendSnapshot = {
      send: { ...send, ...decision.change },
      version: nothing ? row.version : row.version + 1,
      now: () => new Date(row.now.getTime() + performance.now() - readAt),
    };
    return { result: decision.result, snapshot };
  }
  throw new Error(`a send changed under each of ${ROUNDS_MAX} tries to change it`);
}

function changeOf(
  before: Send,
  version: number,
  at: Date,
  { change: fields, attempts = [] }: Decision<unknown>,
): Change {
  return { before, after: { ...before, ...fields }, version, at, attempts };
}

/** @returns whether the row still had the version that was decided on */
async function write(database: Database, change: Change): Promise<boolean> {
  const isWritten = await writeDelivery(database, change);
  if (isWritten) database.onDelivery(change.before, change.after);
  return isWritten;
}

const isNothing = ({ change, attempts = [] }: Decision<unknown>): boolean =>
  change === undefined && attempts.length === 0;
