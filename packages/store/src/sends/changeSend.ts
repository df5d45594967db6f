import type { Decision, Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { readSend, type WhichSend } from './readSend.js';
import { toSend } from './sendRow.js';
import type { Change } from './changeBatcher.js';
import { writeDelivery } from './writeDelivery.js';

/** More tries indicate a fault that changes the row again and again. */
const TRIES_MAX = 1000;

/**
 * Changes a send by a pure rule: reads the row with the database's clock, calls `decide`, and writes the decision if the row still has its
 * version. If another process changed the row first, it reads and decides again. The same statement writes the outcomes of attempts and the
 * refund of a failure. Concurrent changes of different sends share round trips.
 *
 * @returns the decision's result after the commit, or null if the send does not exist
 */
export async function changeSend<R>(
  database: Database,
  which: WhichSend,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const row = await readSend(database, which);
    if (row === undefined) return null;
    const send = toSend(row);
    const decision = decide(send, row.now);
    if (isNothing(decision) || (await write(database, toChange(send, row.version, row.now, decision))))
      return decision.result;
  }
  throw new Error(`could not change a send: its row changed during each of ${TRIES_MAX} attempts`);
}

/** A send as it was read or written. The row may have changed since. */
export interface SendSnapshot {
  send: Send;
  version: number;
  /** Returns the database's time, advanced by `performance.now()`. */
  now: () => Date;
}

/** Changes a send like `changeSend`, from a snapshot: reads the row only if another process has changed it since. */
export async function changeSendSnapshot<R>(
  database: Database,
  { send, version, now }: SendSnapshot,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const at = now();
  const decision = decide(send, at);
  if (!isNothing(decision) && (await write(database, toChange(send, version, at, decision))))
    return decision.result;
  return changeSend(database, { id: send.id }, decide);
}

function toChange(
  before: Send,
  version: number,
  at: Date,
  { change: fields, attempts = [] }: Decision<unknown>,
): Change {
  return { before, after: { ...before, ...fields }, version, at, attempts };
}

/** Writes a change. @returns whether the row still had the version */
async function write(database: Database, change: Change): Promise<boolean> {
  const isWritten = await writeDelivery(database, change);
  if (isWritten) database.onDelivery(change.before, change.after);
  return isWritten;
}

const isNothing = ({ change, attempts = [] }: Decision<unknown>): boolean =>
  change === undefined && attempts.length === 0;
