import type { IdentityCheck, Mode } from '@onecode/domain';
import { audited, changeRow, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { keysInUse } from './apiKeys.js';
import { newId } from '../client/ids.js';
import type { Prisma } from '../generated/prisma/client.js';

const selected = () =>
  ({
    id: true,
    accountId: true,
    name: true,
    mode: true,
    perMinute: true,
    perRecipientHour: true,
    identityCheck: true,
    createdAt: true,
    _count: { select: { keys: { where: keysInUse() } } },
  }) as const;

type Row = Prisma.ApplicationGetPayload<{ select: ReturnType<typeof selected> }>;

/** An application. Null limits are off. `keysInUse`: the number of keys that people created and that are neither revoked nor expired. */
export type Application = Omit<Row, '_count'> & {
  mode: Mode;
  identityCheck: IdentityCheck;
  keysInUse: number;
};

const toApplication = ({ _count, ...row }: Row): Application =>
  ({ ...row, keysInUse: _count.keys }) as Application;

/** Creates an application without its own limits. @returns null if the account does not exist */
export function createApplication(
  database: Database | Connection,
  actor: Actor,
  { accountId, name, mode }: { accountId: string; name: string; mode: Mode },
): Promise<Application | null> {
  return audited(database, actor, async ({ prisma }, log) => {
    if ((await prisma.account.count({ where: { id: accountId } })) === 0) return null;
    const id = newId();
    const data = { id, accountId, name, mode };
    const made = await prisma.application.create({ data, select: selected() });
    await log({ action: 'application.create', accountId, subject: id, details: { after: { name, mode } } });
    return toApplication(made);
  });
}

/**
 * Returns all applications, an account's applications, or the one with this id. Oldest first; with a limit, only the newest ones, newest
 * first.
 */
export async function findApplications(
  { prisma }: Connection,
  { limit, ...where }: { accountId?: string; id?: string; limit?: number },
): Promise<Application[]> {
  const found = await prisma.application.findMany({
    where,
    orderBy: { id: limit === undefined ? 'asc' : 'desc' },
    select: selected(),
    ...(limit !== undefined && { take: limit }),
  });
  return found.map(toApplication);
}

/** Changes the given fields; a null limit is off. @returns the changed application, or null if it does not exist */
export function changeApplication(
  database: Database,
  actor: Actor,
  id: string,
  data: Partial<Pick<Application, 'name' | 'perMinute' | 'perRecipientHour' | 'identityCheck'>>,
): Promise<Application | null> {
  const read = async (connection: Connection) => (await findApplications(connection, { id }))[0] ?? null;
  const row = { action: 'application.change', table: 'applications', id, read } as const;
  return changeRow(database, actor, row, async ({ prisma }) => {
    await prisma.application.update({ where: { id }, data, select: { id: true } });
  });
}
