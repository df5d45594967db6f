import { holdMatches } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { listHolds, type Hold } from './holds.js';

/** A hold with the number of waiting live sends that it matches. */
interface HoldWithSends extends Hold {
  /** The name of the held account; null for other kinds of holds. */
  accountName: string | null;
  waiting: number;
}

/** The active holds, and the live sends that wait for a sender or the end of a hold. */
export interface HeldSends {
  /** Oldest first. */
  holds: HoldWithSends[];
  waiting: number;
  /** Whether more sends wait than were counted, so that the counts are lower bounds. */
  isCapped: boolean;
}

const COUNTED_MAX = 10_000;

/** Returns the active holds, with the number of waiting sends of each among the first ten thousand. */
export async function readHeldSends(database: Connection): Promise<HeldSends> {
  const [holds, counts] = await Promise.all([listHolds(database), countWaiting(database)]);
  const names = await accountNames(database, holds);
  const waiting = sum(counts.map(({ sends }) => sends));
  return {
    holds: holds.map((hold) => ({
      ...hold,
      accountName: hold.kind === 'account' ? (names.get(hold.target) ?? null) : null,
      waiting: sum(counts.filter((count) => holdMatches(hold, count)).map(({ sends }) => sends)),
    })),
    waiting: Math.min(waiting, COUNTED_MAX),
    isCapped: waiting > COUNTED_MAX,
  };
}

interface WaitingCount {
  accountId: string;
  country: string | null;
  sends: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function countWaiting(database: Connection): Promise<WaitingCount[]> {
  return database.sql.query<WaitingCount[]>`
    select w.account_id as "accountId", w.country, count(*)::integer as sends
    from (
      select account_id, country from sends where is_waiting limit ${COUNTED_MAX + 1}::integer
    ) w
    group by 1, 2`;
}

async function accountNames(database: Connection, holds: readonly Hold[]): Promise<Map<string, string>> {
  const ids = holds.filter(({ kind }) => kind === 'account').map(({ target }) => target);
  if (ids.length === 0) return new Map();
  const accounts = await database.prisma.account.findMany({
    where: { id: { in: ids } },
    select: { id: true, name: true },
  });
  return new Map(accounts.map(({ id, name }) => [id, name]));
}
