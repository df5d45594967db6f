import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

/** A session ends after a week, and after a day without use. */
export const SESSION_MS_MAX = 7 * 86_400_000;
const SESSION_IDLE_MS_MAX = 86_400_000;
/** The use of a session is recorded at most once an hour, so that few requests write. */
const USE_RECORDED_EVERY_MS = 3_600_000;

/** Returns whether a session has expired. `updatedAt` is its last use, to the hour. */
export function isSessionOver({ createdAt, updatedAt }: { createdAt: Date; updatedAt: Date }): boolean {
  const now = Date.now();
  return now - createdAt.getTime() >= SESSION_MS_MAX || now - updatedAt.getTime() >= SESSION_IDLE_MS_MAX;
}

/** Records the use of a session, which must not have expired. */
export async function touchSession(
  database: Database,
  { id, updatedAt }: { id: string; updatedAt: Date },
): Promise<void> {
  if (Date.now() - updatedAt.getTime() < USE_RECORDED_EVERY_MS) return;
  // Unlike `update`, `updateMany` does not fail if the session was just deleted.
  await database.prisma.userSession.updateMany({ where: { id }, data: { updatedAt: new Date() } });
}

/** A browser in which a person is signed in. */
export interface UserSession {
  id: string;
  clientAddress: string | null;
  userAgent: string | null;
  createdAt: Date;
  /** Accurate to about an hour. */
  lastUsedAt: Date;
}

/** Returns a person's active sessions, last used first. */
export async function listUserSessions(database: Database, userId: string): Promise<UserSession[]> {
  const rows = await database.prisma.userSession.findMany({
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

/** Ends a session, and deletes all users' expired sessions. */
export async function endSession(database: Database, id: string): Promise<void> {
  const now = Date.now();
  await database.prisma.userSession.deleteMany({
    where: {
      OR: [
        { id },
        { createdAt: { lt: new Date(now - SESSION_MS_MAX) } },
        { updatedAt: { lt: new Date(now - SESSION_IDLE_MS_MAX) } },
      ],
    },
  });
}

/** How long a session counts as confirmed. */
const CONFIRMED_MINUTES = 10;

/** Returns whether the person proved their identity in this session within the last ten minutes, by the database's clock. */
export async function isSessionConfirmed(database: Database, id: string): Promise<boolean> {
  const [session] = await database.sql.query<{ isConfirmed: boolean }[]>`
    select coalesce(confirmed_at > clock_timestamp() - make_interval(mins => ${CONFIRMED_MINUTES}::integer), false) as "isConfirmed"
    from user_sessions where id = ${id}::uuid`;
  return session?.isConfirmed ?? false;
}

/** Marks a session as confirmed, after its person proved their identity. `bothFactors`: they used more than a password. */
export async function markConfirmed(
  connection: Connection,
  id: string,
  { bothFactors }: { bothFactors: boolean },
): Promise<void> {
  await connection.sql.execute`
    update user_sessions
    set confirmed_at = clock_timestamp(), both_factors = both_factors or ${bothFactors}::boolean
    where id = ${id}::uuid`;
}

/** Records that a session replaces one in which its person had used more than a password. */
export async function keepBothFactors({ sql }: Connection, id: string): Promise<void> {
  await sql.execute`update user_sessions set both_factors = true where id = ${id}::uuid`;
}

/** Ends all sessions of a person except one. @returns how many */
export async function endOtherSessions(
  database: Database,
  actor: Actor & { id: string },
  keptId: string,
): Promise<number> {
  return audited(database, actor, async (connection, log) => {
    const { count } = await connection.prisma.userSession.deleteMany({
      where: { userId: actor.id, id: { not: keptId } },
    });
    const details = { sessions: count };
    if (count > 0) await log({ action: 'user.sign_out_elsewhere', subject: actor.id, details });
    return count;
  });
}
