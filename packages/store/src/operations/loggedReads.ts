import type { Database } from '../client/database.js';
import { takeTry } from '../users/countedTries.js';
import { audited, logEntry, type Actor } from './audit.js';

const ONCE_AN_HOUR = { max: 1, seconds: 3_600 };

export interface Read {
  action: 'account.read' | 'send.read' | 'board.read';
  accountId: string | null;
  /** The id of the send or of the account, or the part of the board. */
  subject: string;
}

/**
 * Puts into the audit log what somebody of the staff is about to be shown: once an hour for each person and thing, so that a page
 * that reads again every two seconds fills it no further. Reads at the same time wait for the one that is logged. Every read of
 * the command line, whose actor has no id, is logged.
 *
 * @throws when it cannot be logged: then it must not be shown
 */
export async function logRead(database: Database, actor: Actor, read: Read): Promise<void> {
  if (actor.id === null) return logEntry(database, actor, read);
  const { action, subject } = read;
  await audited(database, actor, async (connection, log) => {
    const isNew = await takeTry(connection, `${action} of ${subject} by ${actor.id}`, ONCE_AN_HOUR);
    if (isNew) await log(read);
  });
}
