import type { Mode } from '@onecode/domain';
import { audited, type Actor, type AuditNote } from '../audit/audit.js';
import { changedFields } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';

export interface Application {
  id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** Creation limits of its own; null is off. */
  perMinute: number | null;
  perRecipientHour: number | null;
}

const SELECTED = {
  id: true,
  accountId: true,
  name: true,
  mode: true,
  perMinute: true,
  perRecipientHour: true,
} as const;

/** Makes an application, with its limits off. @returns null when there is no such account */
export async function createApplication(
  database: Database,
  actor: Actor,
  application: { accountId: string; name: string; mode: Mode },
): Promise<Application | null> {
  return audited(database, actor, async (connection) => {
    const { accountId, name, mode } = application;
    const account = await connection.account.findUnique({ where: { id: accountId }, select: { id: true } });
    if (account === null) return { result: null, note: null };
    const id = newId();
    const made = await connection.application.create({
      data: { id, accountId, name, mode },
      select: SELECTED,
    });
    return {
      result: made as Application,
      note: { action: 'application.create', accountId, subject: id, details: { after: { name, mode } } },
    };
  });
}

/**
 * Sets an application's creation limits; what is left out stays as it is, null turns a limit off.
 *
 * @returns null when there is no such application
 */
export async function limitApplication(
  database: Database,
  actor: Actor,
  id: string,
  limits: { perMinute?: number | null; perRecipientHour?: number | null },
): Promise<Application | null> {
  return audited(database, actor, (connection) => change(connection, 'application.limit', { id }, limits));
}

/** Gives an application of this account another name. @returns null when the account has no such application */
export async function renameApplication(
  database: Database,
  actor: Actor,
  accountId: string,
  id: string,
  name: string,
): Promise<Application | null> {
  return audited(database, actor, (connection) =>
    change(connection, 'application.rename', { id, accountId }, { name }),
  );
}

/** Changes an application under a lock, so that what the log calls before is what was there. */
async function change(
  connection: Connection,
  action: string,
  where: { id: string; accountId?: string },
  data: { name?: string; perMinute?: number | null; perRecipientHour?: number | null },
): Promise<{ result: Application | null; note: AuditNote | null }> {
  await connection.$executeRaw`select from applications where id = ${where.id}::uuid for no key update`;
  const before = await connection.application.findFirst({ where, select: SELECTED });
  if (before === null) return { result: null, note: null };
  const after = await connection.application.update({ where: { id: where.id }, data, select: SELECTED });
  const details = changedFields(before, after);
  return {
    result: after as Application,
    note: details && { action, accountId: after.accountId, subject: after.id, details },
  };
}
