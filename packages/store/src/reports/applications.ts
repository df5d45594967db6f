import type { Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';

/** An application as its owners see it. */
export interface ApplicationSummary {
  id: string;
  name: string;
  mode: Mode;
  /** Creation limits of its own; null is off. */
  perMinute: number | null;
  perRecipientHour: number | null;
  createdAt: Date;
  /** Keys that are not revoked. */
  keysInUse: number;
}

/** The applications of an account, oldest first. */
export async function listApplications(database: Database, accountId: string): Promise<ApplicationSummary[]> {
  return readApplications(database, { accountId });
}

/** An application of this account, or null when the account has none with this id. */
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
  const applications = await database.application.findMany({
    where,
    orderBy: { id: 'asc' },
    select: {
      id: true,
      name: true,
      mode: true,
      perMinute: true,
      perRecipientHour: true,
      createdAt: true,
      _count: { select: { keys: { where: { revokedAt: null } } } },
    },
  });
  return applications.map(({ _count, ...application }) => ({
    ...application,
    mode: application.mode as Mode,
    keysInUse: _count.keys,
  }));
}
