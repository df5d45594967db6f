import { audited, type Actor } from './audit.js';
import { changedFields } from './changedFields.js';
import type { Connection, Database } from './database.js';
import { findAbuseControls, type AbuseControls } from './defences.js';

/** A change of an account's defences under its lock, so that what the log calls before is what was there. */
export async function changeAbuseControls(
  database: Database,
  actor: Actor,
  action: string,
  accountId: string,
  change: (connection: Connection) => Promise<void>,
): Promise<AbuseControls | null> {
  return audited(database, actor, async (connection) => {
    await connection.$executeRaw`select from accounts where id = ${accountId}::uuid for no key update`;
    const before = await findAbuseControls(connection, accountId);
    if (before === null) return { result: null, note: null };
    await change(connection);
    const after = (await findAbuseControls(connection, accountId)) ?? before;
    const details = changedFields(before, after);
    return { result: after, note: details && { action, accountId, subject: accountId, details } };
  });
}
