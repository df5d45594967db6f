import type { Send } from '@onecode/domain';
import type { Database } from './database.js';
import { sendColumns, sendOf, type SendRow } from './sendRow.js';

/** A send of this account with the database's clock, or null when the account has no such send. */
export async function findSend(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ send: Send; now: Date } | null> {
  const [row] = await database.$queryRaw<(SendRow & { now: Date })[]>`
    select ${sendColumns('s')}, clock_timestamp() as now from sends s where id = ${id}::uuid and account_id = ${accountId}::uuid`;
  return row === undefined ? null : { send: sendOf(row), now: row.now };
}
