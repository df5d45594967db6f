import type { Database } from '../client/database.js';
import { takeTry } from '../users/countedTries.js';
import { audited, logEntry, type Actor } from './audit.js';

const ONCE_AN_HOUR = { max: 1, seconds: 3_600 };

export interface Read {
  action: 'account.read' | 'send.read' | 'board.read';
  accountId: string | null;
  /** The id of the send or account, or the part of the queue board. */
  subject: string;
}

/**
 * Logs that a staff member is about to see something, once an hour per person and object, so that a page that refreshes every two seconds
 * adds no more entries. Concurrent reads wait until the first one is logged. Reads from the command line (an actor without an id) are
 * always logged.
 *
 * @throws if the read cannot be logged; then the caller must not show the data
 */
export async function logRead(database: Database, actor: Actor, read: Read): Promise<void> {
  if (actor.id === null) return logEntry(database, actor, read);
  const { action, subject } = read;
  await audited(database, actor, async (connection, log) => {
    const isNew = await takeTry(connection, `${action} of ${subject} by ${actor.id}`, ONCE_AN_HOUR);
    if (isNew) await log(read);
  });
}
