import { audited, logEntry, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { hashPassword } from './passwords.js';
import { forgetSignInTries } from './signInLimits.js';

/**
 * Sets a person's password, ends all their sessions, and resets their sign-in tries.
 *
 * @returns false when nobody has this e-mail
 */
export async function setPassword(
  database: Database,
  actor: Actor,
  email: string,
  password: string,
): Promise<boolean> {
  const hash = await hashPassword(password);
  return changeSecurity(database, actor, 'user.password', email, async (connection, userId) => {
    await connection.prisma.userCredential.deleteMany({ where: { userId, providerId: 'credential' } });
    await connection.prisma.userCredential.create({
      data: { id: newId(), userId, accountId: userId, providerId: 'credential', password: hash },
    });
    await forgetSignInTries(connection, email);
  });
}

/**
 * Removes the second factor of a person who lost it and the backup codes, and ends all their sessions.
 *
 * @returns false when nobody has this e-mail
 */
export async function removeTwoFactor(database: Database, actor: Actor, email: string): Promise<boolean> {
  return changeSecurity(database, actor, 'user.two_factor_removed', email, async (connection, userId) => {
    await connection.prisma.userTwoFactor.deleteMany({ where: { userId } });
    await connection.prisma.user.update({ where: { id: userId }, data: { twoFactorEnabled: false } });
  });
}

async function changeSecurity(
  database: Database,
  actor: Actor,
  action: string,
  email: string,
  change: (connection: Connection, userId: string) => Promise<void>,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const user = await connection.prisma.user.findUnique({ where: { email }, select: { id: true } });
    if (user === null) return false;
    await change(connection, user.id);
    await connection.prisma.userSession.deleteMany({ where: { userId: user.id } });
    // Ends sign-ins between the password and the second factor too.
    await connection.prisma.userVerification.deleteMany({ where: { value: user.id } });
    await log({ action, subject: user.id });
    return true;
  });
}

/** Changes that people make to their own security through better-auth. */
export type OwnSecurityChange =
  'user.password' | 'user.two_factor_turned_on' | 'user.two_factor_turned_off' | 'user.backup_codes_replaced';

/** Logs a change that a person made to their own security. */
export async function logOwnSecurityChange(
  database: Database,
  actor: Actor & { id: string },
  action: OwnSecurityChange,
): Promise<void> {
  await logEntry(database, actor, { action, subject: actor.id });
}
