import { audited, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';

/** A session ends after a week, whatever happens, and after a day without use. */
export const SESSION_MS_MAX = 7 * 86_400_000;
const SESSION_IDLE_MS_MAX = 86_400_000;
/** Not every request writes: the use of a session is known to the hour. */
const SESSION_NOTED_MS = 3_600_000;

/** Whether a session has ended by time. `updatedAt` is when it was last used, to the hour. */
export function isSessionOver({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }): boolean {
  const now = Date.now();
  return now - createdAt.getTime() >= SESSION_MS_MAX || now - updatedAt.getTime() >= SESSION_IDLE_MS_MAX;
}

/** Notes that a session is used, which must not be over. */
export async function noteSessionUse(
  database: Database,
  { id, updatedAt }: { id: string; updatedAt: Date },
): Promise<void> {
  if (Date.now() - updatedAt.getTime() < SESSION_NOTED_MS) return;
  // Without an error for a session that ended just now.
  await database.userSession.updateMany({ where: { id }, data: { updatedAt: new Date() } });
}

/** A place where somebody is signed in. */
export interface UserSession {
  id: string;
  /** Null when it was not to be known. */
  clientAddress: string | null;
  userAgent: string | null;
  createdAt: Date;
  /** To the hour, more or less. */
  lastUsedAt: Date;
}

/** A person's sessions that have not ended, the one used last in front. */
export async function listUserSessions(database: Database, userId: string): Promise<UserSession[]> {
  const rows = await database.userSession.findMany({
    where: { userId },
    orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
    select: { id: true, ipAddress: true, userAgent: true, createdAt: true, updatedAt: true },
  });
  return rows
    .filter((row) => !isSessionOver(row))
    .map(({ id, ipAddress, userAgent, createdAt, updatedAt }) => ({
      id,
      clientAddress: ipAddress,
      userAgent,
      createdAt,
      lastUsedAt: updatedAt,
    }));
}

/** Ends one session, and forgets those that have ended by time. */
export async function endSession(database: Database, id: string): Promise<void> {
  const now = Date.now();
  await database.userSession.deleteMany({
    where: {
      OR: [
        { id },
        { createdAt: { lt: new Date(now - SESSION_MS_MAX) } },
        { updatedAt: { lt: new Date(now - SESSION_IDLE_MS_MAX) } },
      ],
    },
  });
}

/** For so long a session counts as confirmed. */
const CONFIRMED_MINUTES = 10;

/** Whether the person showed within the last ten minutes, in this session, that it is them. By the database's clock. */
export async function isSessionConfirmed(database: Database, id: string): Promise<boolean> {
  const [session] = await database.$queryRaw<{ isConfirmed: boolean }[]>`
    select coalesce(confirmed_at > clock_timestamp() - make_interval(mins => ${CONFIRMED_MINUTES}::integer), false) as "isConfirmed"
    from user_sessions where id = ${id}::uuid`;
  return session?.isConfirmed ?? false;
}

/** Marks a session: whoever uses it has shown right now that it is them. */
export async function markConfirmed(connection: Connection, id: string): Promise<void> {
  await connection.$executeRaw`update user_sessions set confirmed_at = clock_timestamp() where id = ${id}::uuid`;
}

/** Signs a person out everywhere but in one session. @returns how many sessions ended */
export async function endOtherSessions(
  database: Database,
  actor: Actor & { id: string },
  keptId: string,
): Promise<number> {
  return audited(database, actor, async (connection) => {
    const { count } = await connection.userSession.deleteMany({
      where: { userId: actor.id, id: { not: keptId } },
    });
    const note = {
      action: 'user.sign_out_elsewhere',
      accountId: null,
      subject: actor.id,
      details: { sessions: count },
    };
    return { result: count, note: count === 0 ? null : note };
  });
}
