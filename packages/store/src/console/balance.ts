import type { Database } from '../database.js';

/** What an account has left, and how many sends it has made. */
export interface Balance {
  freeQuota: number;
  credits: number;
  /** In both modes. */
  sendsCreated: number;
  /** Where it may send while it is on trial; null when it is not. */
  trialCountries: string[] | null;
}

interface BalanceRow {
  free_quota: number;
  credits: number;
  sends_created: bigint;
  trial_countries: string[] | null;
}

/** An account's balance, or null when there is no such account. */
export async function findBalance(database: Database, accountId: string): Promise<Balance | null> {
  const [row] = await database.$queryRaw<BalanceRow[]>`
    select free_quota, credits, sends_created, trial_countries from accounts where id = ${accountId}::uuid`;
  return row === undefined
    ? null
    : {
        freeQuota: row.free_quota,
        credits: row.credits,
        sendsCreated: Number(row.sends_created),
        trialCountries: row.trial_countries,
      };
}
