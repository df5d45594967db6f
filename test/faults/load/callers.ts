import type { Mode } from '@onecode/domain';
import { buildCaller, type TestDatabase } from '@onecode/testing';

/** Who sends: an application's key, and what it belongs to. */
export interface Caller {
  accountId: string;
  applicationId: string;
  mode: Mode;
  key: string;
}

const SIDE_BY_SIDE = 8;

/** What the nth account is given: most have plenty in both buckets, a tenth runs dry, and some are held to a slow pace. */
function grantOf(n: number): { freeQuota: number; credits: number; ratePerMinute: number | null } {
  if (n % 10 === 3) return { freeQuota: 2, credits: 1, ratePerMinute: null };
  return { freeQuota: 2 + (n % 7), credits: 10_000, ratePerMinute: n % 20 === 8 ? 20 : null };
}

/** Makes accounts with a live application each, in the same order each time; every tenth has a test application too. */
export async function buildCallers(
  { database }: Pick<TestDatabase, 'database'>,
  accounts: number,
): Promise<Caller[]> {
  const callers: Caller[][] = [];
  const numbers = Array.from({ length: accounts }, (_, n) => n).values();
  const lane = async (): Promise<void> => {
    for (const n of numbers) {
      const live = await buildCaller(database, 'live', grantOf(n));
      const test = n % 10 === 0 ? [await buildCaller(database, 'test', { id: live.accountId })] : [];
      callers[n] = [live, ...test];
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return callers.flat();
}
