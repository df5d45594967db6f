import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

export const PASSKEY_NAME_LENGTH_MAX = 100;

/** A person's passkey, created by better-auth. */
export interface Passkey {
  id: string;
  name: string;
  createdAt: Date | null;
}

type Owner = Actor & { id: string };

/** Returns a person's passkeys, oldest first. */
export async function listPasskeys(database: Connection, userId: string): Promise<Passkey[]> {
  const rows = await database.prisma.userPasskey.findMany({
    where: { userId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true, name: true, createdAt: true },
  });
  return rows.map((row) => ({ ...row, name: row.name ?? '' }));
}

/** Renames one of the actor's passkeys. @returns false if they have no such passkey */
export async function renamePasskey(
  database: Database,
  actor: Owner,
  id: string,
  name: string,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const before = await connection.prisma.userPasskey.findFirst({ where: { id, userId: actor.id } });
    if (before === null) return false;
    await connection.prisma.userPasskey.updateMany({ where: { id, userId: actor.id }, data: { name } });
    if (before.name !== name) {
      const details = { before: { name: before.name }, after: { name } };
      await log({ action: 'user.passkey_renamed', subject: actor.id, details });
    }
    return true;
  });
}

/**
 * Removes one of the actor's passkeys and ends their other sessions, which a stranger may have started with it.
 *
 * @returns false if they have no such passkey
 */
export async function removePasskey(
  database: Database,
  actor: Owner,
  id: string,
  sessionId: string,
): Promise<boolean> {
  return audited(database, actor, async (connection, log) => {
    const passkey = await connection.prisma.userPasskey.findFirst({ where: { id, userId: actor.id } });
    if (passkey === null) return false;
    const { count } = await connection.prisma.userPasskey.deleteMany({ where: { id, userId: actor.id } });
    if (count === 0) return false;
    await connection.prisma.userSession.deleteMany({ where: { userId: actor.id, id: { not: sessionId } } });
    await log({ action: 'user.passkey_removed', subject: actor.id, details: { name: passkey.name } });
    return true;
  });
}
