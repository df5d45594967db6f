import { randomBytes } from 'node:crypto';
import type { Locale } from '@onecode/domain';
import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { Prisma } from '../generated/prisma/client.js';
import type { MemberRole } from './members.js';
import { hashPassword } from './passwords.js';
import { endSessions, endWaysIn, replacePassword } from './waysIn.js';

/** The rights of staff: to read everything (`on_call`), or also to change it (`operator`). */
export type StaffRole = 'operator' | 'on_call';

export interface User {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  /** Null for the browser's language, until they choose one. */
  language: Locale | null;
  /** Null for users who are not staff. */
  staff: StaffRole | null;
  hasTwoFactor: boolean;
  /** Whether a mailed link, the OpenID provider or an operator confirmed that the address is the user's. */
  isConfirmed: boolean;
  createdAt: Date;
}

export interface NewUser extends Pick<User, 'name' | 'email' | 'language' | 'staff'> {
  password: string;
  /** The account that they belong to from the start. */
  membership: { accountId: string; role: MemberRole } | null;
}

const SELECTED = {
  id: true,
  name: true,
  email: true,
  language: true,
  staff: true,
  twoFactorEnabled: true,
  emailVerified: true,
  createdAt: true,
} as const;

const toUser = ({
  twoFactorEnabled,
  emailVerified,
  ...row
}: Prisma.UserGetPayload<{ select: typeof SELECTED }>): User => ({
  ...row,
  language: row.language as Locale | null,
  staff: row.staff as StaffRole | null,
  hasTwoFactor: twoFactorEnabled ?? false,
  isConfirmed: emailVerified,
});

/** Returns a password of 128 random bits, until the person chooses one. */
export function randomPassword(): string {
  return randomBytes(16).toString('base64url');
}

type Created = { kind: 'created'; user: User } | { kind: 'email_taken' } | { kind: 'no_account' };

/** Creates a user who can sign in with a password. The operator who creates the user vouches for the address. */
export async function createUser(
  database: Database,
  actor: Actor,
  { name, email, language, staff, password, membership }: NewUser,
): Promise<Created> {
  const hash = await hashPassword(password);
  return audited<Created>(database, actor, async (connection, log) => {
    if (membership !== null && !(await isAccount(connection, membership.accountId)))
      return { kind: 'no_account' };
    const id = newId();
    const { count } = await connection.prisma.user.createMany({
      data: { id, name, email, language, staff, emailVerified: true },
      skipDuplicates: true,
    });
    if (count === 0) return { kind: 'email_taken' };
    await connection.prisma.userCredential.create({
      data: { id: newId(), userId: id, accountId: id, providerId: 'credential', password: hash },
    });
    if (membership !== null) await connection.prisma.member.create({ data: { userId: id, ...membership } });
    const user = toUser(await connection.prisma.user.findUniqueOrThrow({ where: { id }, select: SELECTED }));
    const { accountId = null, role = null } = membership ?? {};
    const details = { after: { name, email, language, staff, role } };
    await log({ action: 'user.create', accountId, subject: id, details });
    return { kind: 'created', user };
  });
}

async function isAccount(connection: Connection, id: string): Promise<boolean> {
  return (await connection.prisma.account.count({ where: { id } })) > 0;
}

/** Returns whether a person is on the staff now. */
export async function isStaff(database: Connection, id: string): Promise<boolean> {
  return (await database.prisma.user.count({ where: { id, staff: { not: null } } })) > 0;
}

/** Returns all users, by e-mail address. */
export async function listUsers(database: Database): Promise<User[]> {
  const rows = await database.prisma.user.findMany({ orderBy: { email: 'asc' }, select: SELECTED });
  return rows.map(toUser);
}

/** Returns users by a part of their name or address, newest first. `before` is the id of the last user of the previous page. */
export async function searchUsers(
  database: Database,
  { text, before, limit }: { text: string; before?: string; limit: number },
): Promise<User[]> {
  // Prisma passes the signs of a pattern on to PostgreSQL.
  const contains = { contains: text.replaceAll(/[\\%_]/g, '\\$&'), mode: 'insensitive' } as const;
  const rows = await database.prisma.user.findMany({
    where: {
      ...(text !== '' && { OR: [{ email: contains }, { name: contains }] }),
      ...(before !== undefined && { id: { lt: before } }),
    },
    orderBy: { id: 'desc' },
    take: limit,
    select: SELECTED,
  });
  return rows.map(toUser);
}

/** Returns a user, or null if no user has this id. */
export async function findUser(database: Database, id: string): Promise<User | null> {
  const row = await database.prisma.user.findUnique({ where: { id }, select: SELECTED });
  return row === null ? null : toUser(row);
}

/** Changes a user's name or language. @returns the changed user, or null if the user does not exist */
export async function changeUser(
  database: Database,
  actor: Actor,
  id: string,
  change: { name?: string; language?: Locale },
): Promise<User | null> {
  return audited(database, actor, async ({ prisma, sql }, log) => {
    // Locked, so that `before` in the audit log is the state that was changed.
    await sql.execute`select from users where id = ${id}::uuid for no key update`;
    const before = await prisma.user.findUnique({ where: { id }, select: SELECTED });
    if (before === null) return null;
    const after = await prisma.user.update({ where: { id }, data: change, select: SELECTED });
    const details = changedFields(before, after);
    if (details !== null) await log({ action: 'user.change', subject: id, details });
    return toUser(after);
  });
}

/** In ascending order of rights. */
const RANKS: readonly (StaffRole | null)[] = [null, 'on_call', 'operator'];

/** How a user gets more rights. */
interface Promotion {
  /** A new password; without one, the store makes one. */
  password?: string | undefined;
  /** Whether an operator vouches for a user with an unconfirmed address. */
  isVouchedFor?: boolean;
}

type StaffChange =
  | {
      kind: 'changed';
      user: User;
      /** The password that the store made; null if a password was given or none was needed. */
      password: string | null;
    }
  /** Nothing was changed: the address is unconfirmed, and no operator vouches for the user. */
  | { kind: 'unconfirmed'; user: User }
  /** Nothing was changed: a password was given for a role without new rights. */
  | { kind: 'not_promoted' }
  /** No user has the address. */
  | { kind: 'unknown' };

/**
 * Makes a user an operator, on-call staff, or neither, and ends their sessions. A user who gets more rights starts with a new password and
 * no other way to sign in: the password, passkeys and second factor of an unconfirmed address may be a stranger's, who signed up with it.
 */
export async function setStaffRole(
  database: Database,
  actor: Actor,
  email: string,
  staff: StaffRole | null,
  { password, isVouchedFor = false }: Promotion = {},
): Promise<StaffChange> {
  const made = randomPassword();
  const hash = await hashPassword(password ?? made);
  return audited<StaffChange>(database, actor, async (connection, log) => {
    const { prisma, sql } = connection;
    await sql.execute`select from users where email = ${email} for no key update`;
    const before = await prisma.user.findUnique({ where: { email }, select: SELECTED });
    if (before === null) return { kind: 'unknown' };
    const { id } = before;
    const isPromotion = RANKS.indexOf(staff) > RANKS.indexOf(toUser(before).staff);
    if (!isPromotion && password !== undefined) return { kind: 'not_promoted' };
    if (isPromotion && !before.emailVerified && !isVouchedFor)
      return { kind: 'unconfirmed', user: toUser(before) };
    if (staff === before.staff) return { kind: 'changed', user: toUser(before), password: null };
    if (isPromotion) {
      await endWaysIn(connection, before);
      await replacePassword(connection, before, hash);
    } else await endSessions(connection, id);
    await prisma.user.update({ where: { id }, data: { staff, ...(isPromotion && { emailVerified: true }) } });
    const after = await prisma.user.findUniqueOrThrow({ where: { id }, select: SELECTED });
    await log({ action: 'user.staff', subject: id, details: changedFields(before, after) ?? {} });
    if (isPromotion) await log({ action: 'user.password', subject: id });
    return {
      kind: 'changed',
      user: toUser(after),
      password: isPromotion && password === undefined ? made : null,
    };
  });
}
