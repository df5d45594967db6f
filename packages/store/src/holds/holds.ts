import type { HoldTarget } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

/** A hold in force: the live sends that it matches get no permit, and wait in their rows. */
export interface Hold extends HoldTarget {
  reason: string;
  since: Date;
  /** The name of who placed it. */
  setBy: string;
}

const SELECTED = { kind: true, target: true, reason: true, since: true, setBy: true } as const;

/**
 * Holds the sends that `what` names. Messages whose permit was given before are still sent, within half a second.
 * A hold that is in force already keeps its reason.
 *
 * @returns the hold in force, or null when there is no such account
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
    if (isNew === 1) await log({ action: 'hold.set', accountId, subject: subjectOf(what), details });
    const where = { kind_target: { kind, target } };
    return (await connection.prisma.hold.findUnique({ where, select: SELECTED })) as Hold | null;
  });
}

/** Ends a hold: its sends go out at once, as fast as the senders may send. @returns the hold, or null when there was none */
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
    await log({ action: 'hold.release', accountId, subject: subjectOf(what), details });
    return released;
  });
}

const subjectOf = ({ kind, target }: HoldTarget): string => (kind === 'live' ? kind : target);

/** All holds, oldest first. */
export async function listHolds(database: Connection): Promise<Hold[]> {
  return (await database.prisma.hold.findMany({ orderBy: { since: 'asc' }, select: SELECTED })) as Hold[];
}
