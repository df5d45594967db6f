import { randomBytes } from 'node:crypto';
import type { Locale } from '@onecode/domain';
import { audited, changedFields, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { Prisma } from '../generated/prisma/client.js';
import type { MemberRole } from './members.js';
import { hashPassword } from './passwords.js';

/** What a member of the staff may do: read everything (`on_call`), or change it too (`operator`). */
export type StaffRole = 'operator' | 'on_call';

export interface User {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  /** Null: the browser's, until they choose one. */
  language: Locale | null;
  /** Null for everybody who is not staff. */
  staff: StaffRole | null;
  hasTwoFactor: boolean;
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
  createdAt: true,
} as const;

const userOf = ({ twoFactorEnabled, ...row }: Prisma.UserGetPayload<{ select: typeof SELECTED }>): User => ({
  ...row,
  language: row.language as Locale | null,
  staff: row.staff as StaffRole | null,
  hasTwoFactor: twoFactorEnabled ?? false,
});

/** A password of 128 random bits, until the person chooses one. */
export function randomPassword(): string {
  return randomBytes(16).toString('base64url');
}

type Created = { kind: 'created'; user: User } | { kind: 'email_taken' } | { kind: 'no_account' };

/** Creates a person who can sign in with a password, as a sign-up does. */
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
      data: { id, name, email, language, staff },
      skipDuplicates: true,
    });
    if (count === 0) return { kind: 'email_taken' };
    await connection.prisma.userCredential.create({
      data: { id: newId(), userId: id, accountId: id, providerId: 'credential', password: hash },
    });
    if (membership !== null) await connection.prisma.member.create({ data: { userId: id, ...membership } });
    const user = userOf(await connection.prisma.user.findUniqueOrThrow({ where: { id }, select: SELECTED }));
    const { accountId = null, role = null } = membership ?? {};
    const details = { after: { name, email, language, staff, role } };
    await log({ action: 'user.create', accountId, subject: id, details });
    return { kind: 'created', user };
  });
}

async function isAccount(connection: Connection, id: string): Promise<boolean> {
  return (await connection.prisma.account.count({ where: { id } })) > 0;
}

/** Whether a person is on the staff now. */
export async function isStaff(database: Connection, id: string): Promise<boolean> {
  return (await database.prisma.user.count({ where: { id, staff: { not: null } } })) > 0;
}

/** All people who can sign in, by e-mail address. */
export async function listUsers(database: Database): Promise<User[]> {
  const rows = await database.prisma.user.findMany({ orderBy: { email: 'asc' }, select: SELECTED });
  return rows.map(userOf);
}

/** Changes a person's name or language. @returns the person afterwards, or null when there is no such person */
export async function changeUser(
  database: Database,
  actor: Actor,
  id: string,
  change: { name?: string; language?: Locale },
): Promise<User | null> {
  return changeLocked(database, actor, 'user.change', { id }, async (connection) => {
    await connection.prisma.user.update({ where: { id }, data: change });
  });
}

/** Makes a person operator, on-call staff, or neither. @returns the person afterwards, or null when there is no such person */
export async function setStaffRole(
  database: Database,
  actor: Actor,
  email: string,
  staff: StaffRole | null,
): Promise<User | null> {
  return changeLocked(database, actor, 'user.staff', { email }, async (connection) => {
    await connection.prisma.user.update({ where: { email }, data: { staff } });
  });
}

/** Changes a person under their row's lock, so that the audit log's `before` is what the change found. */
async function changeLocked(
  database: Database,
  actor: Actor,
  action: string,
  who: { id: string } | { email: string },
  change: (connection: Connection) => Promise<void>,
): Promise<User | null> {
  return audited(database, actor, async (connection, log) => {
    const found = await connection.prisma.user.findUnique({ where: who, select: { id: true } });
    if (found === null) return null;
    await connection.sql.execute`select from users where id = ${found.id}::uuid for no key update`;
    const before = await connection.prisma.user.findUniqueOrThrow({
      where: { id: found.id },
      select: SELECTED,
    });
    await change(connection);
    const after = await connection.prisma.user.findUniqueOrThrow({
      where: { id: found.id },
      select: SELECTED,
    });
    const details = changedFields(before, after);
    if (details !== null) await log({ action, subject: found.id, details });
    return userOf(after);
  });
}
