import type { Decision, Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { readSend, type WhichSend } from './readSend.js';
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
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const row = await readSend(database, which);
    if (row === undefined) return null;
    const send = sendOf(row);
    const decision = decide(send, row.now);
    if (isNothing(decision) || (await write(database, changeOf(send, row.version, row.now, decision))))
      return decision.result;
  }
  throw new Error(`a send changed under each of ${ROUNDS_MAX} tries to change it`);
}

/** A send as it was read or written. Another change may have followed since. */
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
