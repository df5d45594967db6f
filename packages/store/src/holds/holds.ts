import type { HoldTarget } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

/** An active hold: the live sends that it matches get no permit, and wait in their rows. */
export interface Hold extends HoldTarget {
  reason: string;
  since: Date;
  /** The name of the operator who placed it. */
  setBy: string;
}

const SELECTED = { kind: true, target: true, reason: true, since: true, setBy: true } as const;

/**
 * Places a hold on the sends that `what` matches. Messages that already have a permit are still sent, within half a second. A hold that is
 * already active keeps its reason.
 *
 * @returns the active hold, or null if the account does not exist
 */
export async function placeHold(
  database: Database,
  actor: Actor,
  what: HoldTarget & { reason: string },
): Promise<Hold | null> {
  const { kind, target, reason } = what;
  return audited(database, actor, async (connection, log) => {
    const accountId = kind === 'account' ? target : null;
    if (accountId !== null && (await connection.prisma.account.count({ where: { id: accountId } })) === 0)
      return null;
    const isNew = await connection.sql.execute`
      insert into holds (kind, target, reason, set_by) values (${kind}, ${target}, ${reason}, ${actor.name})
      on conflict (kind, target) do nothing`;
    const details = { kind, target, reason };
    if (isNew === 1) await log({ action: 'hold.set', accountId, subject: auditSubject(what), details });
    const where = { kind_target: { kind, target } };
    return (await connection.prisma.hold.findUnique({ where, select: SELECTED })) as Hold | null;
  });
}

/** Ends a hold: its sends are sent immediately, at the rate of the senders. @returns the hold, or null if there was none */
export async function releaseHold(
  database: Database,
  actor: Actor,
  what: HoldTarget & { releaseReason?: string },
): Promise<Hold | null> {
  const { kind, target, releaseReason } = what;
  return audited(database, actor, async (connection, log) => {
    const [released] = await connection.sql.query<Hold[]>`
      delete from holds where kind = ${kind} and target = ${target}
      returning kind, target, reason, since, set_by as "setBy"`;
    if (released === undefined) return null;
    const accountId = kind === 'account' ? target : null;
    const { reason, since, setBy } = released;
    const details = { kind, target, reason, since, setBy, ...(releaseReason && { releaseReason }) };
    await log({ action: 'hold.release', accountId, subject: auditSubject(what), details });
    return released;
  });
}

const auditSubject = ({ kind, target }: HoldTarget): string => (kind === 'live' ? kind : target);

/** Returns all holds, oldest first. */
export async function listHolds(database: Connection): Promise<Hold[]> {
  return (await database.prisma.hold.findMany({ orderBy: { since: 'asc' }, select: SELECTED })) as Hold[];
}
