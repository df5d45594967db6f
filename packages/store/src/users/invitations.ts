import { createHash, randomBytes } from 'node:crypto';
import type { Keyring, Locale } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { sendsMail, writeLinkMail } from '../mails/writeMails.js';
import { secondsUntilTry, takeTry } from './countedTries.js';
import type { MemberRole } from './members.js';
import { LimitReached, normalizeMailbox, takeAction } from './outwardLimits.js';

const VALIDITY_DAYS = 7;
/** How long an expired invitation is listed, so that admins see that it was not accepted. */
const EXPIRED_DAYS = 30;
/** How often an account may mail an invitation to one address, even if it was revoked in between. */
const MAILS_PER_ADDRESS = { max: 1, seconds: 3_600 };

/** An invitation to an account, which its link accepts. */
export interface Invitation {
  id: string;
  email: string;
  role: MemberRole;
  /** The inviter's name; null when the inviter no longer exists. */
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
 * Invites a person, also by mail if workers send mail. Only the response and the mail contain the link's token. An earlier invitation of
 * the same address ends. The mail of a trial account names only the inviter: anyone can create such an account under any name.
 *
 * @param invited the address in lower case, and the network of the inviter's address
 * @param mail the keyring for the mail's link, and the page that the link opens; null sends none
 * @returns `member` if the invited person is a member already, `not_admin` if the actor is not, or no longer, an admin
 * @throws LimitReached
 */
export async function inviteMember(
  database: Database,
  actor: Actor & { id: string },
  invited: { accountId: string; email: string; role: MemberRole; network: string },
  mail: { keyring: Keyring; page: string } | null,
): Promise<Invited> {
  const { accountId, email, role, network } = invited;
  return audited<Invited>(database, actor, async (connection, log) => {
    // The lock lasts until the commit, so that an inviter who is removed at the same time leaves no invitation behind.
    const isAdmin = await connection.sql.execute`
      select from members
      where account_id = ${accountId}::uuid and user_id = ${actor.id}::uuid and role = 'admin' for share`;
    if (isAdmin === 0) return { kind: 'not_admin' };
    if ((await connection.prisma.member.count({ where: { accountId, user: { email } } })) > 0)
      return { kind: 'member' };
    if (mail !== null && (await sendsMail(connection))) await takeMail(connection, accountId, email);
    const by = { accountId, userId: actor.id, network };
    await takeAction(connection, 'invitation', by, normalizeMailbox(email));
    const token = randomBytes(32).toString('base64url');
    const [{ id, expiresAt }] = await connection.sql.query<[{ id: string; expiresAt: Date }]>`
      insert into invitations as i (id, account_id, email, role, token_hash, invited_by, created_at, expires_at)
      values (${newId()}::uuid, ${accountId}::uuid, ${email}, ${role}, ${tokenHash(token)}::bytea, ${actor.id}::uuid,
        clock_timestamp(), clock_timestamp() + make_interval(days => ${VALIDITY_DAYS}::integer))
      on conflict (account_id, email) do update set id = excluded.id, role = excluded.role,
        token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
        expires_at = excluded.expires_at
      returning id, expires_at as "expiresAt"`;
    await log({ action: 'member.invite', accountId, subject: id, details: { after: { email, role } } });
    if (mail === null) return { kind: 'invited', id, token, expiresAt };
    const [{ account, language }] = await connection.sql.query<
      [{ account: string | null; language: Locale }]
    >`
      select case when trial_countries is null then name end as account, language
      from accounts where id = ${accountId}::uuid`;
    await writeLinkMail(connection, mail.keyring, {
      kind: 'invitation',
      facts: { account, role, by: actor.name },
      recipient: email,
      language,
      link: `${mail.page}#${token}`,
      minutes: VALIDITY_DAYS * 24 * 60,
    });
    return { kind: 'invited', id, token, expiresAt };
  });
}

/** Counts a mailed invitation. @throws LimitReached if the account invited the address within the hour */
async function takeMail(connection: Connection, accountId: string, email: string): Promise<void> {
  const subject = `invitation of ${accountId} to ${email}`;
  if ((await takeTry(connection, subject, MAILS_PER_ADDRESS)) === null)
    throw new LimitReached('repeated_invitation', await secondsUntilTry(connection, subject));
}

/** Returns an account's open invitations, newest first, including expired ones. */
export async function listInvitations(database: Database, accountId: string): Promise<Invitation[]> {
  const rows = await database.prisma.invitation.findMany({
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

/** Deletes invitations that expired some time ago, with the addresses of people who never accepted them. */
export async function deleteOldInvitations({ sql }: Database): Promise<void> {
  await sql.execute`delete from invitations where expires_at < now() - make_interval(days => ${EXPIRED_DAYS}::integer)`;
}

/** Revokes an invitation and its link. @returns false if the account has no such invitation */
export async function revokeInvitation(
  database: Database,
  actor: Actor,
  accountId: string,
  id: string,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const [revoked] = await connection.sql.query<{ email: string; role: string }[]>`
      delete from invitations where id = ${id}::uuid and account_id = ${accountId}::uuid returning email, role`;
    if (revoked === undefined) return false;
    await log({ action: 'member.revoke_invitation', accountId, subject: id, details: { before: revoked } });
    return true;
  });
}

export interface InvitationOffer {
  accountId: string;
  accountName: string;
  email: string;
  role: MemberRole;
}

/** Returns the invitation of the link with this token, or null if the link was used, replaced or revoked, or has expired. */
export async function findInvitation(database: Connection, token: string): Promise<InvitationOffer | null> {
  const found = await database.prisma.invitation.findFirst({
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

/**
 * Makes a person a member by a link's token, which can be used once. An existing member keeps their role.
 *
 * @param person must have the invited e-mail address; any other address leaves the link valid
 * @returns the account's id; null if the person has another address, or `findInvitation` returns null
 */
export async function acceptInvitation(
  database: Database,
  actor: Actor & { id: string },
  person: { email: string },
  token: string,
): Promise<string | null> {
  return audited(database, actor, async (connection, log) => {
    const offer = await findInvitation(connection, token);
    if (offer?.email !== person.email) return null;
    // The same lock as in `createOwnAccount`, so that a person cannot join an account and create one at the same time.
    await connection.sql.execute`select from users where id = ${actor.id}::uuid for no key update`;
    const used = await connection.sql
      .execute`delete from invitations where token_hash = ${tokenHash(token)}::bytea`;
    if (used === 0) return null;
    const { accountId, role } = offer;
    const { count } = await connection.prisma.member.createMany({
      data: { accountId, userId: actor.id, role },
      skipDuplicates: true,
    });
    if (count > 0)
      await log({ action: 'member.join', accountId, subject: actor.id, details: { after: { role } } });
    return accountId;
  });
}
