import { randomBytes } from 'node:crypto';
import type { Locale } from '@onecode/domain';
import { audited, type Actor } from '../audit/audit.js';
import { changedFields } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { MemberRole } from './members.js';
import { hashPassword } from './passwords.js';

/** What a person of the staff may do: look at everything, or change it too. */
export type StaffRole = 'operator' | 'on_call';

/** A person of the console. */
export interface User {
  id: string;
  name: string;
  email: string;
  language: Locale;
  /** Null for those who are not of the staff. */
  staff: StaffRole | null;
  hasTwoFactor: boolean;
  createdAt: Date;
}

export interface NewUser {
  name: string;
  /** Lower case. */
  email: string;
  language: Locale;
  staff: StaffRole | null;
  password: string;
  /** The account that they belong to from the beginning. */
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

const userOf = (row: {
  id: string;
  name: string;
  email: string;
  language: string;
  staff: string | null;
  twoFactorEnabled: boolean | null;
  createdAt: Date;
}): User => ({
  id: row.id,
  name: row.name,
  email: row.email,
  language: row.language as Locale,
  staff: row.staff as StaffRole | null,
  hasTwoFactor: row.twoFactorEnabled ?? false,
  createdAt: row.createdAt,
});

/** A password of 128 random bits, for somebody who will choose one of their own. */
export function randomPassword(): string {
  return randomBytes(16).toString('base64url');
}

type Created = { kind: 'created'; user: User } | { kind: 'email_taken' } | { kind: 'no_account' };

/** Makes a person who can sign in with a password, as a sign-up does. */
export async function createUser(
  database: Database,
  actor: Actor,
  { name, email, language, staff, password, membership }: NewUser,
): Promise<Created> {
  const hash = await hashPassword(password);
  return audited<Created>(database, actor, async (connection) => {
    if (membership !== null && !(await isAccount(connection, membership.accountId)))
      return { result: { kind: 'no_account' }, note: null };
    const id = newId();
    const { count } = await connection.user.createMany({
      data: { id, name, email, language, staff },
      skipDuplicates: true,
    });
    if (count === 0) return { result: { kind: 'email_taken' }, note: null };
    await connection.userCredential.create({
      data: { id: newId(), userId: id, accountId: id, providerId: 'credential', password: hash },
    });
    if (membership !== null) await connection.member.create({ data: { userId: id, ...membership } });
    const user = userOf(await connection.user.findUniqueOrThrow({ where: { id }, select: SELECTED }));
    const details = { after: { name, email, language, staff, role: membership?.role ?? null } };
    return {
      result: { kind: 'created', user },
      note: { action: 'user.create', accountId: membership?.accountId ?? null, subject: id, details },
    };
  });
}

async function isAccount(connection: Connection, id: string): Promise<boolean> {
  return (await connection.account.count({ where: { id } })) > 0;
}

/** Everybody who can sign in, by e-mail. */
export async function listUsers(database: Database): Promise<User[]> {
  const rows = await database.user.findMany({ orderBy: { email: 'asc' }, select: SELECTED });
  return rows.map(userOf);
}

/** Changes what people say of themselves. @returns the person afterwards, or null when there is none */
export async function changeUser(
  database: Database,
  actor: Actor,
  id: string,
  change: { name?: string; language?: Locale },
): Promise<User | null> {
  return changeLocked(database, actor, 'user.change', { id }, async (connection) => {
    await connection.user.update({ where: { id }, data: change });
  });
}

/** Makes somebody an operator, on-call staff, or neither. @returns the person afterwards, or null when there is none */
export async function setStaffRole(
  database: Database,
  actor: Actor,
  email: string,
  staff: StaffRole | null,
): Promise<User | null> {
  return changeLocked(database, actor, 'user.staff', { email }, async (connection) => {
    await connection.user.update({ where: { email }, data: { staff } });
  });
}

/** A change of a person under their row's lock, so that what the log calls before is what was there. */
async function changeLocked(
  database: Database,
  actor: Actor,
  action: string,
  who: { id: string } | { email: string },
  change: (connection: Connection) => Promise<void>,
): Promise<User | null> {
  return audited(database, actor, async (connection) => {
    const found = await connection.user.findUnique({ where: who, select: { id: true } });
    if (found === null) return { result: null, note: null };
    await connection.$executeRaw`select from users where id = ${found.id}::uuid for no key update`;
    const before = await connection.user.findUniqueOrThrow({ where: { id: found.id }, select: SELECTED });
    await change(connection);
    const after = await connection.user.findUniqueOrThrow({ where: { id: found.id }, select: SELECTED });
    const details = changedFields(before, after);
    return {
      result: userOf(after),
      note: details && { action, accountId: null, subject: found.id, details },
    };
  });
}
