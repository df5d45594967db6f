import type { Decision, Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { readSend } from './readSend.js';
import type { SendRow } from './sendRow.js';
import { createWriter } from './updateSends.js';

const write = createWriter(100);

/** More tries indicate a fault that changes the row again and again. */
const TRIES_MAX = 1000;

/** A send as it was read or written. The row may have changed since. */
export interface SendSnapshot {
  send: Send;
  version: number;
  /** Returns the database's current time: the time when the row was read, plus the time that has passed in this process since. */
  now: () => Date;
}

/** Returns the snapshot of a row that was just read. */
export function toSnapshot(row: SendRow): SendSnapshot {
  const readAt = performance.now();
  const now = (): Date => new Date(row.now.getTime() + performance.now() - readAt);
  return { send: row, version: row.version, now };
}

/**
 * Changes a send with a pure rule: reads the row with the database's clock, calls `decide`, and writes the decision if the row still has
 * its version. If another process changed the row first, it reads and decides again. The same statement writes the outcomes of attempts and
 * the refund of a failure. Concurrent changes of different sends share round trips.
 *
 * @param which with a snapshot, the row is read only if another process has changed it since
 * @returns the decision's result after the commit, or null if the send does not exist
 */
export async function changeSend<R>(
  database: Database,
  which: { id: string } | SendSnapshot,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const { id } = 'send' in which ? which.send : which;
  let snapshot = 'send' in which ? which : await readSnapshot(database, id);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (snapshot === null) return null;
    const now = snapshot.now();
    const { result, change, attempts = [] } = decide(snapshot.send, now);
    if (change === undefined && attempts.length === 0) return result;
    const read = { ...snapshot, now, receipts: [] };
    if ((await write(database, read, { change, attempts })) !== null) return result;
    snapshot = await readSnapshot(database, id);
  }
  throw new Error(`could not change a send: its row changed during each of ${TRIES_MAX} attempts`);
}

async function readSnapshot(database: Database, id: string): Promise<SendSnapshot | null> {
  const row = await readSend(database, { id });
  return row === undefined ? null : toSnapshot(row);
}
