import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { endAddressChanges, endLinks } from '../mails/links.js';
import { forgetSignInTries } from './signInLimits.js';

/** The fields of a user on which their ways to sign in depend. */
export interface Holder {
  id: string;
  email: string;
  emailVerified: boolean;
}

/**
 * Replaces a user's password. For an unconfirmed address, also removes passkeys and the provider's login, because a stranger may have
 * signed up with it. A second factor alone gives no access, so it stays.
 *
 * @returns true
 */
export async function replacePassword(
  connection: Connection,
  { id: userId, email, emailVerified }: Holder,
  hash: string,
): Promise<boolean> {
  const { prisma } = connection;
  const where = emailVerified ? { userId, providerId: 'credential' } : { userId };
  await prisma.userCredential.deleteMany({ where });
  if (!emailVerified) await prisma.userPasskey.deleteMany({ where: { userId } });
  await prisma.userCredential.create({
    data: { id: newId(), userId, accountId: userId, providerId: 'credential', password: hash },
  });
  await forgetSignInTries(connection, email);
  await endLinks(connection, 'password_reset', email);
  return true;
}

/** Ends a user's sessions, unfinished sign-ins, and links that change their address. */
export async function endSessions(connection: Connection, userId: string): Promise<void> {
  // A sign-in in progress waits for this lock, and then checks the password again, see `endOvertakenSignIn`.
  await connection.sql.execute`select from users where id = ${userId}::uuid for no key update`;
  await connection.prisma.userSession.deleteMany({ where: { userId } });
  // Also ends sign-ins between the password and the second factor.
  await connection.prisma.userVerification.deleteMany({ where: { value: userId } });
  await endAddressChanges(connection, userId);
}

/** Returns the password hash of the user with this address, or null without a user or a password. */
export async function findPasswordHash({ prisma }: Connection, email: string): Promise<string | null> {
  const where = { user: { email }, providerId: 'credential' };
  const credential = await prisma.userCredential.findFirst({ where, select: { password: true } });
  return credential?.password ?? null;
}

/**
 * Ends a user's sessions if the password was replaced while a sign-in was verifying the old one: such a sign-in starts its session after
 * the other sessions have ended.
 *
 * @param hash the hash of the password when the sign-in started
 * @returns whether it was replaced
 */
export async function endOvertakenSignIn(
  database: Database,
  email: string,
  hash: string | null,
): Promise<boolean> {
  return database.transaction(async (connection) => {
    // The lock waits for an uncommitted change that has ended sessions.
    const [user] = await connection.sql.query<{ id: string }[]>`
      select id from users where email = ${email} for no key update`;
    if (user === undefined || (await findPasswordHash(connection, email)) === hash) return false;
    await endSessions(connection, user.id);
    return true;
  });
}

/** Ends all of a user's ways to sign in: password, second factor, passkeys, the provider's login, sessions and mailed links. */
export async function endWaysIn(
  connection: Connection,
  { id: userId, email }: Pick<Holder, 'id' | 'email'>,
): Promise<void> {
  const { prisma } = connection;
  const where = { where: { userId } };
  await prisma.userCredential.deleteMany(where);
  await prisma.userTwoFactor.deleteMany(where);
  await prisma.userPasskey.deleteMany(where);
  await prisma.user.update({ where: { id: userId }, data: { twoFactorEnabled: false } });
  await endSessions(connection, userId);
  await endLinks(connection, 'password_reset', email);
}
