import { findApplications, type Application } from '../accounts/applications.js';
import { ACCOUNT_COLUMNS, type Account } from '../accounts/accounts.js';
import type { Connection, Database } from '../client/database.js';
import { isId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import type { MemberRole } from '../users/members.js';

export interface FoundAccount extends Account {
  createdAt: Date;
  sendsCreated: number;
  /** Whether there is an active hold on the account. */
  held: boolean;
}

/** The longest search text. */
const TEXT_LENGTH_MAX = 200;

/**
 * Returns accounts, newest first: the one with this id; those with a name that contains every word of the text; or all for an empty text.
 * `before` is the id of the last account of the previous page.
 */
export async function searchAccounts(
  database: Connection,
  { text = '', before, limit }: { text?: string; before?: string; limit: number },
): Promise<FoundAccount[]> {
  const cursor = before === undefined ? Prisma.empty : Prisma.sql`and a.id < ${before}::uuid`;
  return database.sql.query<FoundAccount[]>`
    select ${ACCOUNT_COLUMNS}, a.created_at as "createdAt", a.sends_created::float8 as "sendsCreated",
      exists (select from holds h where h.kind = 'account' and h.target = a.id::text) as held
    from accounts a, settings
    where ${matching(text.trim())} ${cursor}
    order by a.id desc limit ${limit}::integer`;
}

function matching(text: string): Prisma.Sql {
  if (text === '') return Prisma.sql`true`;
  if (isId(text)) return Prisma.sql`a.id = ${text}::uuid`;
  // PostgreSQL stores no NUL.
  const words = text.replaceAll('\0', ' ').slice(0, TEXT_LENGTH_MAX).split(/\s+/);
  const patterns = words.map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return Prisma.sql`a.name ilike all(${patterns}::text[])`;
}

/** An account with its related objects, for operators; without sends and recipients. */
export interface AccountDetails extends FoundAccount {
  /** Null for the setting. */
  ownRatePerMinute: number | null;
  /** Oldest first, like the members. */
  applications: Application[];
  members: { id: string; name: string; role: MemberRole }[];
}

/** Returns an account's details, or null if the account does not exist. */
export async function findAccountDetails(database: Database, id: string): Promise<AccountDetails | null> {
  const [[found], own, applications] = await Promise.all([
    searchAccounts(database, { text: id, limit: 1 }),
    readOwn(database, id),
    findApplications(database, { accountId: id }),
  ]);
  if (found === undefined || own === null) return null;
  const { ratePerMinute, members } = own;
  return {
    ...found,
    ownRatePerMinute: ratePerMinute,
    applications,
    members: members.map(({ user, role }) => ({ ...user, role: role as MemberRole })),
  };
}

function readOwn(database: Database, id: string) {
  return database.prisma.account.findUnique({
    where: { id },
    select: {
      ratePerMinute: true,
      members: {
        orderBy: { createdAt: 'asc' },
        select: { role: true, user: { select: { id: true, name: true } } },
      },
    },
  });
}
