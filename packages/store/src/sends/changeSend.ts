import type { Decision, Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { findSend, type SendRow } from './sendRow.js';
import { createWriter } from './updateSends.js';

const write = createWriter(100);

/** More tries indicate a fault that changes the row again and again. */
const TRIES_MAX = 1000;

/**
 * Changes a send with a pure rule: reads the row with the database's clock, calls `decide`, and writes the decision if the row still has
 * its version. If another process changed the row first, it reads and decides again. The same statement writes the outcomes of attempts and
 * the refund of a failure. Concurrent changes of different sends share round trips.
 *
 * @param which with a row, `now` must be the current time; the row is read again only if another process has changed it since
 * @returns the decision's result after the commit, or null if the send does not exist
 */
export async function changeSend<R>(
  database: Database,
  which: { id: string } | SendRow,
  decide: (send: Send, now: Date) => Decision<R>,
): Promise<R | null> {
  const { id } = which;
  let row = 'version' in which ? which : await findSend(database, { id });
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (row === undefined) return null;
    const { result, ...changes } = decide(row, row.now);
    const isChange = changes.change !== undefined || (changes.attempts ?? []).length > 0;
    if (!isChange || (await write(database, row, changes)) !== null) return result;
    row = await findSend(database, { id });
  }
  throw new Error(`could not change a send: its row changed during each of ${TRIES_MAX} attempts`);
}
