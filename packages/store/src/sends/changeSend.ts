import type { AttemptOutcome, Decision, ReportedAttempt, Send, SendSlot } from '@onecode/domain';
import type { Database } from '../client/database.js';
import {
  readReportedSend,
  readRoutedSend,
  readSend,
  type ReadRow,
  type RoutedRow,
  type WhichReport,
  type WhichSend,
} from './readSend.js';
import { sendOf } from './sendRow.js';
import { writeDecision } from './writeDecision.js';

/** More rounds than this means that something writes one row without end. */
const ROUNDS_MAX = 1000;

/**
 * The one door for every change of a send after its creation. Reads the row with the database's clock, asks the pure `decide`
 * what should happen, and writes it guarded by the row's version; when somebody else was faster, it reads and decides again.
 * A failure's refund, the attempts' outcomes and the recipient's count of wrong codes are in the same statement as the change.
 * Changes of many sends at a time share their round trips.
 *
 * @returns the decision's result once it is committed, or null when there is no such send
 */
export async function changeSend<R>(
  database: Database,
  which: WhichSend,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const changed = await repeatUntilWritten(database, () => readSend(database, which), decide);
  return changed?.result ?? null;
}

/** A send as a change of ours left it. Somebody may have changed it since. */
export interface SendSnapshot {
  send: Send;
  version: number;
  /** The database's clock, by `performance.now()`. */
  now: () => Date;
}

/**
 * `changeSend` for a send that may go out now: with a slot of a sender if there is one, exact for any number of callers (see
 * `take_send_slots`). Keeps how the send stands afterwards, for who will change it again soon.
 */
export async function changeRoutedSend<R>(
  database: Database,
  id: string,
  decide: (send: Send, now: Date, slot: SendSlot | null) => Decision<R>,
): Promise<Changed<R> | null> {
  return repeatUntilWritten(
    database,
    () => readRoutedSend(database, id),
    (send, now, row) => decide(send, now, slotOf(row)),
  );
}

function slotOf(row: RoutedRow): SendSlot | null {
  const { slot_sender_id: id, slot_sender_number: number, slot_wait_ms: waitMs } = row;
  return id === null || number === null || waitMs === null ? null : { sender: { id, number }, waitMs };
}

/**
 * `changeSend` for a send that was kept: tries the change without reading the row. Whoever changed it meanwhile has changed its
 * version too, so that the write fails; then the row is read, as ever.
 */
export async function changeSendSnapshot<R>(
  database: Database,
  { send, version, now }: SendSnapshot,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const decision = decide(send, now());
  if (!isNothing(decision) && (await writeDecision(database, send, version, decision)))
    return decision.result;
  return changeSend(database, { id: send.id }, decide);
}

/** `changeSend` for the send whose attempt a receipt reports on. @returns null when no attempt of ours matches. */
export async function changeReportedSend<R>(
  database: Database,
  which: WhichReport,
  decide: (send: Send, now: Date, attempt: ReportedAttempt) => Decision<R>,
): Promise<R | null> {
  const changed = await repeatUntilWritten(
    database,
    () => readReportedSend(database, which),
    (send, now, row) =>
      decide(send, now, {
        id: row.reported_id,
        senderId: row.reported_sender_id,
        outcome: row.reported_outcome as AttemptOutcome | null,
        otherIsAccepted: row.other_is_accepted,
        otherClaimedAt: row.other_claimed_at,
      }),
  );
  return changed?.result ?? null;
}

interface Changed<R> {
  result: R;
  kept: SendSnapshot;
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
    if (!nothing && !(await writeDecision(database, send, row.version, decision))) continue;
    const kept: SendSnapshot = {
      send: { ...send, ...decision.change },
      version: nothing ? row.version : row.version + 1,
      now: () => new Date(row.now.getTime() + performance.now() - readAt),
    };
    return { result: decision.result, kept };
  }
  throw new Error('a send changed under every one of many attempts to change it');
}

const isNothing = ({ change, attempts = [] }: Decision<unknown>): boolean =>
  change === undefined && attempts.length === 0;
