import type { Database } from '../database.js';

/** Whose send this is; null when there is no such send. Only for the staff: all others name their account. */
export async function findSendAccount(
  database: Database,
  sendId: string,
): Promise<{ id: string; name: string } | null> {
  const [account] = await database.$queryRaw<{ id: string; name: string }[]>`
    select a.id, a.name from sends s join accounts a on a.id = s.account_id where s.id = ${sendId}::uuid`;
  return account ?? null;
}
