import { searchAccounts, type FoundAccount } from './accountSearch.js';
import type { Database } from '../client/database.js';
import type { MemberRole } from '../users/members.js';
import { listApplications, type ApplicationSummary } from './applications.js';

/** A time for which the breaker kept an account from a country. */
export interface BreakerTripDetails {
  /** `ZZ` for numbers of no country. */
  country: string;
  trippedAt: Date;
  openUntil: Date;
  /** What it was judged by. */
  sends: number;
  unverified: number;
}

/** An account and what belongs to it, for operators: never its sends or whom they went to. */
export interface AccountDetails extends FoundAccount {
  /** Null follows the setting. */
  ownRatePerMinute: number | null;
  /** Oldest first, like the members. */
  applications: ApplicationSummary[];
  members: { id: string; name: string; role: MemberRole }[];
  /** Latest first. */
  trips: BreakerTripDetails[];
}

/** So many members and trips at the most. */
const LIST_LENGTH_MAX = 100;

/** Everything that operators see of an account, or null when there is no such account. */
export async function findAccountDetails(database: Database, id: string): Promise<AccountDetails | null> {
  const [[found], own, applications] = await Promise.all([
    searchAccounts(database, { text: id, limit: 1 }),
    readOwn(database, id),
    listApplications(database, id),
  ]);
  if (found === undefined || own === null) return null;
  const { ratePerMinute, members, breakerTrips } = own;
  return {
    ...found,
    ownRatePerMinute: ratePerMinute,
    applications,
    members: members.map(({ user, role }) => ({ ...user, role: role as MemberRole })),
    trips: breakerTrips,
  };
}

function readOwn(database: Database, id: string) {
  return database.account.findUnique({
    where: { id },
    select: {
      ratePerMinute: true,
      members: {
        orderBy: { createdAt: 'asc' },
        take: LIST_LENGTH_MAX,
        select: { role: true, user: { select: { id: true, name: true } } },
      },
      breakerTrips: {
        orderBy: { trippedAt: 'desc' },
        take: LIST_LENGTH_MAX,
        select: { country: true, trippedAt: true, openUntil: true, sends: true, unverified: true },
      },
    },
  });
}
