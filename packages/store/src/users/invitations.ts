import { createHash, randomBytes } from 'node:crypto';
import { audited, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { MemberRole } from './members.js';

const DAYS = 7;

/** Somebody who may join an account with the link that they were given. */
export interface Invitation {
  id: string;
  email: string;
  role: MemberRole;
  /** Null when whoever invited is gone. */
  invitedBy: string | null;
  createdAt: Date;
  expiresAt: Date;
}

const tokenHash = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(token).digest());

type Invited =
  | { kind: 'invited'; id: string; token: string; expiresAt: Date }
  | { kind: 'member' }
  | { kind: 'not_admin' };

/**
 * Invites somebody, with a link's token that is in the answer and nowhere else. Another invitation of the same address is
 * replaced: its link ends.
 *
 * @param invited the address in lower case
 * @returns `member` for somebody who is one already, `not_admin` when whoever asked is no admin (any longer)
 */
export async function inviteMember(
  database: Database,
  actor: Actor & { id: string },
  invited: { accountId: string; email: string; role: MemberRole },
): Promise<Invited> {
  const { accountId, email, role } = invited;
  return audited<Invited>(database, actor, async (connection) => {
    // Held until the end, so that nobody's invitation outlives their own removal.
    const isAdmin = await connection.$executeRaw`
      select from members
      where account_id = ${accountId}::uuid and user_id = ${actor.id}::uuid and role = 'admin' for share`;
    if (isAdmin === 0) return { result: { kind: 'not_admin' }, note: null };
    if ((await connection.member.count({ where: { accountId, user: { email } } })) > 0)
      return { result: { kind: 'member' }, note: null };
    const token = randomBytes(32).toString('base64url');
    const [{ id, expiresAt }] = await connection.$queryRaw<[{ id: string; expiresAt: Date }]>`
      insert into invitations as i (id, account_id, email, role, token_hash, invited_by, created_at, expires_at)
      values (${newId()}::uuid, ${accountId}::uuid, ${email}, ${role}, ${tokenHash(token)}::bytea, ${actor.id}::uuid,
        clock_timestamp(), clock_timestamp() + make_interval(days => ${DAYS}::integer))
      on conflict (account_id, email) do update set id = excluded.id, role = excluded.role,
        token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
        expires_at = excluded.expires_at
      returning id, expires_at as "expiresAt"`;
    return {
      result: { kind: 'invited', id, token, expiresAt },
      note: { action: 'member.invite', accountId, subject: id, details: { after: { email, role } } },
    };
  });
}

/** The invitations of an account that nobody has accepted, the newest first; those that expired among them. */
export async function listInvitations(database: Database, accountId: string): Promise<Invitation[]> {
  const rows = await database.invitation.findMany({
    where: { accountId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    select: {
      id: true,
      email: true,
      role: true,
      createdAt: true,
      expiresAt: true,
      inviter: { select: { name: true } },
    },
  });
  return rows.map(({ role, inviter, ...row }) => ({
    ...row,
    role: role as MemberRole,
    invitedBy: inviter?.name ?? null,
  }));
}

/** Takes an invitation back: its link ends. @returns false when the account has no such invitation */
export async function revokeInvitation(
  database: Database,
  actor: Actor,
  accountId: string,
  id: string,
): Promise<boolean> {
  return audited(database, actor, async (connection) => {
    const [revoked] = await connection.$queryRaw<{ email: string; role: string }[]>`
      delete from invitations where id = ${id}::uuid and account_id = ${accountId}::uuid returning email, role`;
    if (revoked === undefined) return { result: false, note: null };
    const details = { before: revoked };
    return {
      result: true,
      note: { action: 'member.revoke_invitation', accountId, subject: id, details },
    };
  });
}

/** What a link offers. */
export interface InvitationOffer {
  accountId: string;
  accountName: string;
  email: string;
  role: MemberRole;
}

/** What the link with this token offers, or null when it was used, replaced or taken back, or has expired. */
export async function findInvitation(database: Connection, token: string): Promise<InvitationOffer | null> {
  const found = await database.invitation.findFirst({
    where: { tokenHash: tokenHash(token), expiresAt: { gt: new Date() } },
    select: { accountId: true, email: true, role: true, account: { select: { name: true } } },
  });
  return found === null
    ? null
    : {
        accountId: found.accountId,
        accountName: found.account.name,
        email: found.email,
        role: found.role as MemberRole,
      };
}

type Accepted = { kind: 'joined'; accountId: string } | { kind: 'unknown' | 'wrong_email' };

/**
 * Makes a person a member with a link's token, which ends with it. Whoever is a member already keeps their role.
 *
 * @param person somebody whose e-mail must be the invited one
 * @returns the account's id; `unknown` as for `findInvitation`; `wrong_email` leaves the link as it is
 */
export async function acceptInvitation(
  database: Database,
  actor: Actor & { id: string },
  person: { email: string },
  token: string,
): Promise<Accepted> {
  return audited<Accepted>(database, actor, async (connection) => {
    const offer = await findInvitation(connection, token);
    if (offer === null) return { result: { kind: 'unknown' }, note: null };
    if (offer.email !== person.email) return { result: { kind: 'wrong_email' }, note: null };
    // The lock of `createOwnAccount`: no account is made for somebody who is just joining one.
    await connection.$executeRaw`select from users where id = ${actor.id}::uuid for no key update`;
    const used =
      await connection.$executeRaw`delete from invitations where token_hash = ${tokenHash(token)}::bytea`;
    if (used === 0) return { result: { kind: 'unknown' }, note: null };
    const { accountId, role } = offer;
    await connection.member.createMany({ data: { accountId, userId: actor.id, role }, skipDuplicates: true });
    return {
      result: { kind: 'joined', accountId },
      note: { action: 'member.join', accountId, subject: actor.id, details: { after: { role } } },
    };
  });
}
