import type { Database } from '../database.js';

/** What an account has left, and how many sends it has made. */
export interface Balance {
  freeQuota: number;
  credits: number;
  /** In both modes. */
  sendsCreated: number;
}

/** An account's balance, or null when there is no such account. */
export async function findBalance(database: Database, accountId: string): Promise<Balance | null> {
  const [row] = await database.$queryRaw<{ free_quota: number; credits: number; sends_created: bigint }[]>`
    select free_quota, credits, sends_created from accounts where id = ${accountId}::uuid`;
  return row === undefined
    ? null
    : { freeQuota: row.free_quota, credits: row.credits, sendsCreated: Number(row.sends_created) };
}
