import { audited, type Actor, type AuditNote } from './audit.js';
import type { Connection, Database } from './database.js';
import type { MemberRole } from './members.js';

/** What became of a change in a team. `not_admin`: whoever asked is no admin (any longer). */
export type MemberChange = 'changed' | 'unknown' | 'last_admin' | 'not_admin';

/** Gives a member another role. The last admin keeps theirs. */
export async function changeMemberRole(
  database: Database,
  actor: Actor,
  { accountId, userId, role }: { accountId: string; userId: string; role: MemberRole },
): Promise<MemberChange> {
  return audited(database, actor, async (connection) => {
    const admins = await lockAdmins(connection, accountId);
    if (!isAdmin(admins, actor)) return refused('not_admin');
    const before = await lockRole(connection, accountId, userId);
    if (before === null) return refused('unknown');
    if (role === before) return { result: 'changed', note: null };
    if (isLast(admins, userId)) return refused('last_admin');
    await connection.member.update({ where: { accountId_userId: { accountId, userId } }, data: { role } });
    if (before === 'admin') await revokeInvitationsOf(connection, accountId, userId);
    const details = { before: { role: before }, after: { role } };
    return { result: 'changed', note: { action: 'member.role', accountId, subject: userId, details } };
  });
}

/**
 * Takes a member out of an account, with the invitations that they made. Everybody may take themselves out, but for the last
 * admin; others need to be admins.
 */
export async function removeMember(
  database: Database,
  actor: Actor,
  { accountId, userId }: { accountId: string; userId: string },
): Promise<MemberChange> {
  return audited(database, actor, async (connection) => {
    const admins = await lockAdmins(connection, accountId);
    if (actor.id !== userId && !isAdmin(admins, actor)) return refused('not_admin');
    const before = await lockRole(connection, accountId, userId);
    if (before === null) return refused('unknown');
    if (isLast(admins, userId)) return refused('last_admin');
    await connection.member.delete({ where: { accountId_userId: { accountId, userId } } });
    await revokeInvitationsOf(connection, accountId, userId);
    const details = { before: { role: before } };
    return { result: 'changed', note: { action: 'member.remove', accountId, subject: userId, details } };
  });
}

function refused(result: Exclude<MemberChange, 'changed'>): { result: MemberChange; note: AuditNote | null } {
  return { result, note: null };
}

/**
 * The admins of an account, locked in one order by everyone who changes a team: whoever waited sees only those who still are
 * admins, so that two who remove each other do not both succeed.
 */
async function lockAdmins(connection: Connection, accountId: string): Promise<string[]> {
  const rows = await connection.$queryRaw<{ userId: string }[]>`
    select user_id as "userId" from members where account_id = ${accountId}::uuid and role = 'admin'
    order by user_id for update`;
  return rows.map(({ userId }) => userId);
}

async function lockRole(
  connection: Connection,
  accountId: string,
  userId: string,
): Promise<MemberRole | null> {
  const [row] = await connection.$queryRaw<{ role: MemberRole }[]>`
    select role from members where account_id = ${accountId}::uuid and user_id = ${userId}::uuid for update`;
  return row?.role ?? null;
}

const isLast = (admins: readonly string[], userId: string): boolean =>
  admins.length === 1 && admins[0] === userId;

/** The command line may do everything. */
const isAdmin = (admins: readonly string[], { id }: Actor): boolean => id === null || admins.includes(id);

/** A link that they kept would be a way back in. */
async function revokeInvitationsOf(connection: Connection, accountId: string, userId: string): Promise<void> {
  await connection.invitation.deleteMany({ where: { accountId, invitedBy: userId } });
}
