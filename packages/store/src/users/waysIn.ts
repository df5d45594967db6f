import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { endAddressChanges, endLinks } from '../mails/links.js';
import { forgetSignInTries } from './signInLimits.js';

/** A user's row, as far as their ways in depend on it. */
export interface Holder {
  id: string;
  email: string;
  emailVerified: boolean;
}

/**
 * Replaces a user's password. Passkeys and the provider's login of an unconfirmed address end with it, because a stranger may have signed
 * up with the address. A second factor opens nothing by itself: it stays.
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
  await endLinks(connection, 'password-reset', email);
  return true;
}

/** Ends a user's sessions, their begun sign-ins, and the links that give them another address. */
export async function endSessions(connection: Connection, userId: string): Promise<void> {
  // A sign-in that is under way waits for this lock, and then looks at the password: see `endOvertakenSignIn`.
  await connection.sql.execute`select from users where id = ${userId}::uuid for no key update`;
  await connection.prisma.userSession.deleteMany({ where: { userId } });
  // Ends sign-ins between the password and the second factor too.
  await connection.prisma.userVerification.deleteMany({ where: { value: userId } });
  await endAddressChanges(connection, userId);
}

/** Returns the hash of the password of the user with this address, or null without a user or a password. */
export async function findPasswordHash({ prisma }: Connection, email: string): Promise<string | null> {
  const where = { user: { email }, providerId: 'credential' };
  const credential = await prisma.userCredential.findFirst({ where, select: { password: true } });
  return credential?.password ?? null;
}

/**
 * Ends a user's sessions if the password was replaced while a sign-in was verifying the old one: the sign-in began its session after the
 * others had ended.
 *
 * @param hash that of the password when the sign-in began
 * @returns whether it was replaced
 */
export async function endOvertakenSignIn(
  database: Database,
  email: string,
  hash: string | null,
): Promise<boolean> {
  return database.transaction(async (connection) => {
    // Waits for a change that has ended sessions and is not committed.
    const [user] = await connection.sql.query<{ id: string }[]>`
      select id from users where email = ${email} for no key update`;
    if (user === undefined || (await findPasswordHash(connection, email)) === hash) return false;
    await endSessions(connection, user.id);
    return true;
  });
}

/** Ends every way in that a user has: password, second factor, passkeys, the provider's login, sessions and mailed links. */
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
  await endLinks(connection, 'password-reset', email);
}
