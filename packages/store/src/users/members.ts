import type { Locale } from '@onecode/domain';
import { type Actor, audited } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

/**
 * The roles of members: a viewer reads, a developer also changes applications and keys, an admin also changes the team and everything else.
 */
export const MEMBER_ROLES = ['viewer', 'developer', 'admin'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

export interface Membership {
  accountId: string;
  accountName: string;
  language: Locale;
  role: MemberRole;
}

/** Returns a person's role in an account, or null if they are not a member. */
export async function findMemberRole(
  database: Database,
  accountId: string,
  userId: string,
): Promise<MemberRole | null> {
  const member = await database.prisma.member.findUnique({
    where: { accountId_userId: { accountId, userId } },
    select: { role: true },
  });
  return (member?.role as MemberRole | undefined) ?? null;
}

/** Returns the accounts that a person belongs to, in the order in which they joined. */
export async function listMemberships(database: Connection, userId: string): Promise<Membership[]> {
  const members = await database.prisma.member.findMany({
    where: { userId },
    orderBy: [{ createdAt: 'asc' }, { accountId: 'asc' }],
    select: { accountId: true, role: true, account: { select: { name: true, language: true } } },
  });
  return members.map(({ accountId, role, account }) => ({
    accountId,
    accountName: account.name,
    language: account.language as Locale,
    role: role as MemberRole,
  }));
}

export interface Member {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  hasTwoFactor: boolean;
  joinedAt: Date;
}

/** Returns the members of an account, by name. */
export async function listMembers(database: Database, accountId: string): Promise<Member[]> {
  const members = await database.prisma.member.findMany({
    where: { accountId },
    orderBy: [{ user: { name: 'asc' } }, { userId: 'asc' }],
    select: {
      userId: true,
      role: true,
      createdAt: true,
      user: { select: { name: true, email: true, twoFactorEnabled: true } },
    },
  });
  return members.map(({ userId, role, createdAt, user }) => ({
    userId,
    name: user.name,
    email: user.email,
    role: role as MemberRole,
    hasTwoFactor: user.twoFactorEnabled ?? false,
    joinedAt: createdAt,
  }));
}

/** The outcome of a change in a team. `not_admin`: the actor is not, or no longer, an admin. */
export type MemberChange = 'changed' | 'unknown' | 'last_admin' | 'not_admin';

/** Changes a member's role. The last admin stays an admin. */
export async function changeMemberRole(
  database: Database,
  actor: Actor,
  { accountId, userId, role }: { accountId: string; userId: string; role: MemberRole },
): Promise<MemberChange> {
  return audited<MemberChange>(database, actor, async (connection, log) => {
    const admins = await lockAdmins(connection, accountId);
    if (!isAdmin(admins, actor)) return 'not_admin';
    const before = await lockRole(connection, accountId, userId);
    if (before === null) return 'unknown';
    if (role === before) return 'changed';
    if (isLast(admins, userId)) return 'last_admin';
    await connection.prisma.member.update({
      where: { accountId_userId: { accountId, userId } },
      data: { role },
    });
    if (before === 'admin') await revokeInvitationsBy(connection, accountId, userId);
    const details = { before: { role: before }, after: { role } };
    await log({ action: 'member.role', accountId, subject: userId, details });
    return 'changed';
  });
}

/**
 * Removes a member and the invitations that they made. Members may remove themselves, except the last admin; only admins may remove others.
 */
export async function removeMember(
  database: Database,
  actor: Actor,
  { accountId, userId }: { accountId: string; userId: string },
): Promise<MemberChange> {
  return audited<MemberChange>(database, actor, async (connection, log) => {
    const admins = await lockAdmins(connection, accountId);
    if (actor.id !== userId && !isAdmin(admins, actor)) return 'not_admin';
    const before = await lockRole(connection, accountId, userId);
    if (before === null) return 'unknown';
    if (isLast(admins, userId)) return 'last_admin';
    await connection.prisma.member.delete({ where: { accountId_userId: { accountId, userId } } });
    await revokeInvitationsBy(connection, accountId, userId);
    const details = { before: { role: before } };
    await log({ action: 'member.remove', accountId, subject: userId, details });
    return 'changed';
  });
}

/**
 * Locks and returns the admins of an account. All changes of a team lock them in the same order. A caller that waited for the lock gets
 * only the remaining admins, so that only one of two admins who remove each other succeeds.
 */
async function lockAdmins(connection: Connection, accountId: string): Promise<string[]> {
  const rows = await connection.sql.query<{ userId: string }[]>`
    select user_id as "userId" from members where account_id = ${accountId}::uuid and role = 'admin'
    order by user_id for update`;
  return rows.map(({ userId }) => userId);
}

async function lockRole(
  connection: Connection,
  accountId: string,
  userId: string,
): Promise<MemberRole | null> {
  const [row] = await connection.sql.query<{ role: MemberRole }[]>`
    select role from members where account_id = ${accountId}::uuid and user_id = ${userId}::uuid for update`;
  return row?.role ?? null;
}

const isLast = (admins: readonly string[], userId: string): boolean =>
  admins.length === 1 && admins[0] === userId;

/** Returns whether the actor may change the team; the command line, an actor without an id, always may. */
const isAdmin = (admins: readonly string[], { id }: Actor): boolean => id === null || admins.includes(id);

/** Revokes a removed member's invitations, because a removed admin could return through one of their own links. */
async function revokeInvitationsBy(connection: Connection, accountId: string, userId: string): Promise<void> {
  await connection.prisma.invitation.deleteMany({ where: { accountId, invitedBy: userId } });
}
