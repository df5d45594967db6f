import type { Locale } from '@onecode/domain';
import type { Connection, Database } from './database.js';

/** What a member may do in an account: read; change applications and keys; or all of it, the team too. */
export const MEMBER_ROLES = ['viewer', 'developer', 'admin'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** An account that a person belongs to. */
export interface Membership {
  accountId: string;
  accountName: string;
  language: Locale;
  role: MemberRole;
}

/** A person's role in an account, or null when they have none there. */
export async function findMemberRole(
  database: Database,
  accountId: string,
  userId: string,
): Promise<MemberRole | null> {
  const member = await database.member.findUnique({
    where: { accountId_userId: { accountId, userId } },
    select: { role: true },
  });
  return (member?.role as MemberRole | undefined) ?? null;
}

/** The accounts that a person belongs to, the one they joined first in front. */
export async function listMemberships(database: Connection, userId: string): Promise<Membership[]> {
  const members = await database.member.findMany({
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

/** A person who belongs to an account. */
export interface Member {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  hasTwoFactor: boolean;
  joinedAt: Date;
}

/** The team of an account, by name. */
export async function listMembers(database: Database, accountId: string): Promise<Member[]> {
  const members = await database.member.findMany({
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
