import type { Send } from '@onecode/domain';
import type { Database } from './database.js';
import { readSend } from './readSend.js';
import { sendOf } from './sendRow.js';

/** A send of this account with the database's clock, or null when the account has no such send. */
export async function findSend(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ send: Send; now: Date } | null> {
  const row = await readSend(database, { id, accountId });
  return row === undefined ? null : { send: sendOf(row), now: row.now };
}
