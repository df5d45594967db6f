import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { endAddressChanges, endLinks, readLink, useLink } from '../mails/links.js';
import { hashPassword } from './passwords.js';
import { endSessions, endWaysIn, replacePassword, type Holder } from './waysIn.js';

/**
 * Sets a person's password, ends all their sessions, and resets their sign-in tries.
 *
 * @returns false if no user has this e-mail address
 */
export async function setPassword(
  database: Database,
  actor: Actor,
  email: string,
  password: string,
): Promise<boolean> {
  const hash = await hashPassword(password);
  return changeSecurity(database, actor, 'user.password', email, (connection, user) =>
    replacePassword(connection, user, hash),
  );
}

/** Returns the user of a mailed link that replaces a password; null if the link was used or has expired, or the user no longer exists. */
export async function findPasswordReset(
  database: Connection,
  token: string,
): Promise<{ id: string; name: string; email: string } | null> {
  const email = await readLink(database, 'password_reset', token);
  return email === null
    ? null
    : database.prisma.user.findUnique({ where: { email }, select: { id: true, name: true, email: true } });
}

/**
 * Sets a person's password through a mailed link, like `setPassword`. Signing in still requires their second factor.
 *
 * @returns false if `findPasswordReset` returns null, so only one of several callers with the same link succeeds
 */
export async function resetPassword(database: Database, token: string, password: string): Promise<boolean> {
  const found = await findPasswordReset(database, token);
  if (found === null) return false;
  const { id, email } = found;
  const hash = await hashPassword(password);
  const actor: Actor = { kind: 'user', id, name: email };
  return changeSecurity(database, actor, 'user.reset_password', email, async (connection, user) => {
    if ((await useLink(connection, 'password_reset', token)) === null) return false;
    await replacePassword(connection, user, hash);
    // The link proves that the user receives mail at the address.
    await connection.prisma.user.update({ where: { id: user.id }, data: { emailVerified: true } });
    return true;
  });
}

/**
 * Removes the second factor of a person who lost it and its backup codes. Also removes their passkeys and the provider's login, and ends
 * all their sessions.
 *
 * @returns false if no user has this e-mail address
 */
export async function removeTwoFactor(database: Database, actor: Actor, email: string): Promise<boolean> {
  return changeSecurity(
    database,
    actor,
    'user.two_factor_removed',
    email,
    async (connection, { id: userId }) => {
      await connection.prisma.userTwoFactor.deleteMany({ where: { userId } });
      await connection.prisma.userPasskey.deleteMany({ where: { userId } });
      await connection.prisma.userCredential.deleteMany({ where: { userId, providerId: 'oidc' } });
      await connection.prisma.user.update({ where: { id: userId }, data: { twoFactorEnabled: false } });
      return true;
    },
  );
}

/** Ends all sessions of a user. @returns false if no user has this e-mail address */
export async function signOutEverywhere(database: Database, actor: Actor, email: string): Promise<boolean> {
  return changeSecurity(database, actor, 'user.sign_out_everywhere', email, async () => true);
}

/** Returns whether a person can sign in without a password: with a passkey or the provider's login. */
export async function hasOtherProof({ sql }: Connection, userId: string): Promise<boolean> {
  const [found] = await sql.query<[{ has: boolean }]>`
    select exists (select from user_passkeys where user_id = ${userId}::uuid)
      or exists (select from user_credentials where user_id = ${userId}::uuid and provider_id = 'oidc') as has`;
  return found.has;
}

/**
 * Assigns a user with an unconfirmed address to the identity provider that confirms it. All the user's ways to sign in end, because a
 * stranger may have signed up with the address.
 */
export async function claimByProvider(database: Database, userId: string): Promise<void> {
  const user = await database.prisma.user.findUnique({
    where: { id: userId },
    select: { id: true, email: true, emailVerified: true },
  });
  if (user === null || user.emailVerified) return;
  await audited(database, { kind: 'user', id: userId, name: user.email }, async (connection, log) => {
    await endWaysIn(connection, user);
    await connection.prisma.user.update({ where: { id: userId }, data: { emailVerified: true } });
    await log({ action: 'user.claimed', subject: userId });
  });
}

async function changeSecurity(
  database: Database,
  actor: Actor,
  action: string,
  email: string,
  /** Returns false if it changed nothing. */
  change: (connection: Connection, user: Holder) => Promise<boolean>,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const select = { id: true, email: true, emailVerified: true };
    const user = await connection.prisma.user.findUnique({ where: { email }, select });
    if (user === null) return false;
    if (!(await change(connection, user))) return false;
    await endSessions(connection, user.id);
    await log({ action, subject: user.id });
    return true;
  });
}

/** Changes that people make to their own security through better-auth. */
export type OwnSecurityChange =
  | 'user.password'
  | 'user.two_factor_turned_on'
  | 'user.two_factor_turned_off'
  | 'user.backup_codes_replaced'
  | 'user.passkey_added';

/** Logs a change that a person made to their own security. `details` are visible to all readers of the audit log. */
export async function logOwnSecurityChange(
  database: Database,
  actor: Actor & { id: string },
  action: OwnSecurityChange,
  details: Record<string, unknown> = {},
): Promise<void> {
  await audited(database, actor, async (connection, log) => {
    if (action === 'user.password') {
      const { email } = await connection.prisma.user.findUniqueOrThrow({ where: { id: actor.id } });
      await endLinks(connection, 'password_reset', email);
      await endAddressChanges(connection, actor.id);
    }
    await log({ action, subject: actor.id, details });
  });
}
