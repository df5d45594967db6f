import type { IdentityCheck, Mode } from '@onecode/domain';
import { audited, changedFields, type Actor, type Log } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { keysInUse } from './apiKeys.js';
import { newId } from '../client/ids.js';

export interface Application {
  id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** The application's own creation limits; null if off. */
  perMinute: number | null;
  perRecipientHour: number | null;
  identityCheck: IdentityCheck;
}

const SELECTED = {
  id: true,
  accountId: true,
  name: true,
  mode: true,
  perMinute: true,
  perRecipientHour: true,
  identityCheck: true,
} as const;

/** Creates an application without its own limits. @returns null if the account does not exist */
export async function createApplication(
  database: Database,
  actor: Actor,
  application: { accountId: string; name: string; mode: Mode },
): Promise<Application | null> {
  return audited(database, actor, async (connection, log) => {
    const account = await connection.prisma.account.findUnique({
      where: { id: application.accountId },
      select: { id: true },
    });
    return account && insertApplication(connection, log, application);
  });
}

/** Inserts and logs an application of an existing account, in the caller's transaction. */
export async function insertApplication(
  connection: Connection,
  log: Log,
  { accountId, name, mode }: { accountId: string; name: string; mode: Mode },
): Promise<Application> {
  const id = newId();
  const made = await connection.prisma.application.create({
    data: { id, accountId, name, mode },
    select: SELECTED,
  });
  await log({ action: 'application.create', accountId, subject: id, details: { after: { name, mode } } });
  return made as Application;
}

/**
 * Sets an application's creation limits: null turns a limit off, an omitted limit does not change.
 *
 * @returns null if the application does not exist
 */
export async function limitApplication(
  database: Database,
  actor: Actor,
  id: string,
  limits: { perMinute?: number | null; perRecipientHour?: number | null },
): Promise<Application | null> {
  return change(database, actor, 'application.limit', { id }, limits);
}

/** Sets what an application does about numbers after a change of owner. @returns null if the application does not exist */
export async function setIdentityCheck(
  database: Database,
  actor: Actor,
  id: string,
  identityCheck: IdentityCheck,
): Promise<Application | null> {
  return change(database, actor, 'application.set_identity_check', { id }, { identityCheck });
}

/** Returns applications, newest first: all, those of an account, or the one with this id. */
export async function findApplications(
  database: Database,
  { limit, ...where }: { accountId?: string; id?: string; limit: number },
): Promise<Application[]> {
  const found = await database.prisma.application.findMany({
    where,
    orderBy: { id: 'desc' },
    take: limit,
    select: SELECTED,
  });
  return found as Application[];
}

/** Renames an application of this account. @returns null if the account has no such application */
export async function renameApplication(
  database: Database,
  actor: Actor,
  accountId: string,
  id: string,
  name: string,
): Promise<Application | null> {
  return change(database, actor, 'application.rename', { id, accountId }, { name });
}

/** Changes an application under its lock, so that `before` in the audit log is the state that was changed. */
function change(
  database: Database,
  actor: Actor,
  action: string,
  where: { id: string; accountId?: string },
  data: Partial<Pick<Application, 'name' | 'perMinute' | 'perRecipientHour' | 'identityCheck'>>,
): Promise<Application | null> {
  const { id } = where;
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from applications where id = ${id}::uuid for no key update`;
    const before = await connection.prisma.application.findFirst({ where, select: SELECTED });
    if (before === null) return null;
    const after = await connection.prisma.application.update({ where: { id }, data, select: SELECTED });
    const details = changedFields(before, after);
    if (details !== null) await log({ action, accountId: after.accountId, subject: id, details });
    return after as Application;
  });
}

/** An application as the account's members see it. */
export interface ApplicationSummary extends Omit<Application, 'accountId'> {
  createdAt: Date;
  /** How many keys that people created are neither revoked nor expired. */
  keysInUse: number;
}

/** Returns the applications of an account, oldest first. */
export async function listApplications(database: Database, accountId: string): Promise<ApplicationSummary[]> {
  return readApplications(database, { accountId });
}

/** Returns an application of this account, or null if the account has none with this id. */
export async function findApplication(
  database: Database,
  accountId: string,
  id: string,
): Promise<ApplicationSummary | null> {
  const [application] = await readApplications(database, { accountId, id });
  return application ?? null;
}

async function readApplications(
  database: Database,
  where: { accountId: string; id?: string },
): Promise<ApplicationSummary[]> {
  const applications = await database.prisma.application.findMany({
    where,
    orderBy: { id: 'asc' },
    select: {
      ...SELECTED,
      createdAt: true,
      _count: { select: { keys: { where: keysInUse() } } },
    },
  });
  return applications.map(({ _count, createdAt, accountId: _accountId, ...application }) => ({
    ...(application as Omit<Application, 'accountId'>),
    createdAt,
    keysInUse: _count.keys,
  }));
}
