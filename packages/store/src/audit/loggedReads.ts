import type { Database } from '../client/database.js';
import { audited, logEntry, type Actor } from './audit.js';

/** A person who goes on reading the same is logged again after this time. */
const LOGGED_FOR = '1 hour';

/** What a member of the staff reads of customers. */
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
    const isNew = await connection.sql.execute`
      insert into logged_reads as r (user_id, action, subject) values (${actor.id}::uuid, ${action}, ${subject})
      on conflict (user_id, action, subject) do update set logged_at = clock_timestamp()
      where r.logged_at < clock_timestamp() - ${LOGGED_FOR}::interval`;
    if (isNew === 0) return;
    // Skip locked: another read of the same person may hold one of these rows while it waits for this one's.
    await connection.sql.execute`
      delete from logged_reads where (user_id, action, subject) in (
        select user_id, action, subject from logged_reads
        where user_id = ${actor.id}::uuid and logged_at < clock_timestamp() - ${LOGGED_FOR}::interval
        for update skip locked
      )`;
    await log(read);
  });
}
