import type { HoldTarget } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';

/** An active hold: the live sends that it matches get no permit, and wait in their rows. */
export interface Hold extends HoldTarget {
  reason: string;
  since: Date;
  /** The name of the operator who placed it, or who gave it this reason. */
  setBy: string;
}

/**
 * Places a hold on the sends that `what` matches. Messages that already have a permit are still sent, within half a second. If the hold is
 * already active, a new reason replaces its reason and operator, and the hold keeps its time.
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
    if (kind === 'account' && (await connection.prisma.account.count({ where: { id: target } })) === 0)
      return null;
    const changed = await connection.sql.execute`
      insert into holds as h (kind, target, reason, set_by) values (${kind}, ${target}, ${reason}, ${actor.name})
      on conflict (kind, target) do update set reason = excluded.reason, set_by = excluded.set_by where h.reason <> excluded.reason`;
    const details = { kind, target, reason };
    if (changed === 1) await log({ action: 'hold.set', ...auditOf(what), details });
    return (await connection.prisma.hold.findUnique({ where: { kind_target: { kind, target } } })) as Hold;
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
    const details = { ...released, ...(releaseReason && { releaseReason }) };
    await log({ action: 'hold.release', ...auditOf(what), details });
    return released;
  });
}

const auditOf = ({ kind, target }: HoldTarget) => ({
  accountId: kind === 'account' ? target : null,
  subject: kind === 'live' ? kind : target,
});
