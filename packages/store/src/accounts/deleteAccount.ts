import { failure } from '@onecode/domain';
import { type Actor, audited } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { changeSend } from '../sends/updateSends.js';
import { deleteDailyStatistics } from '../reports/dailyStatistics.js';
import { listSenders, removeSender } from '../senders/senders.js';
import { deleteSends } from '../sends/retention.js';
import { type Account, changeAccountRow } from './accounts.js';

export interface DeletedAccount {
  /** Deleted members: those who belong to no other account and are not staff. */
  peopleDeleted: number;
  keysDeleted: number;
  sendsDeleted: number;
}

/** Sends per transaction. */
const PAGE = 200;
/** Days from an admin's request to the deletion, in which any admin may cancel it. */
const DELETION_DAYS = 30;

/**
 * Deletes an account's personal data: first its members, invitations, webhook and keys, then its own senders with their tokens, then its
 * sends, page by page, with all their data, and their statistics. Unfinished live sends fail first, with a refund. The account stays,
 * suspended, with its applications, grants and ledger, which bookkeeping needs. A repeated call continues an interrupted one.
 *
 * @param reason for the audit log and the suspension
 * @param signal ends the deletion after the current page
 * @returns null if the account does not exist
 */
export async function deleteAccount(
  database: Database,
  actor: Actor,
  accountId: string,
  reason: string,
  signal?: AbortSignal,
): Promise<DeletedAccount | null> {
  const left = await audited(database, actor, async (connection, log) => {
    const { sql } = connection;
    const suspended = await sql.execute`
      update accounts set suspended_at = clock_timestamp(), suspension_reason = ${reason}
      where id = ${accountId}::uuid and suspended_at is null`;
    if (suspended === 0 && (await connection.prisma.account.count({ where: { id: accountId } })) === 0)
      return null;
    await sql.execute`delete from event_webhooks where account_id = ${accountId}::uuid`;
    const keysDeleted = await sql.execute`
      delete from api_keys k using applications p where p.id = k.application_id and p.account_id = ${accountId}::uuid`;
    const peopleDeleted = await deletePeople(connection, accountId);
    const details = { reason, people: peopleDeleted, keys: keysDeleted };
    if (suspended + keysDeleted + peopleDeleted > 0)
      await log({ action: 'account.delete', accountId, subject: accountId, details });
    return { keysDeleted, peopleDeleted };
  });
  if (left === null) return null;
  for (const { id } of await listSenders(database, accountId)) await removeSender(database, actor, id);
  const sendsDeleted = await deleteAllSends(database, accountId, signal);
  for (const table of ['guess_budgets', 'breaker_trips', 'refused_requests'] as const)
    await database.sql.execute`delete from ${Prisma.raw(table)} where account_id = ${accountId}::uuid`;
  await deleteDailyStatistics(database, accountId);
  return { ...left, sendsDeleted };
}

/** Deletes the members and invitations of an account. @returns how many users belonged only to this account, and were deleted */
async function deletePeople({ sql }: Connection, accountId: string): Promise<number> {
  await sql.execute`delete from invitations where account_id = ${accountId}::uuid`;
  const members = await sql.query<{ user_id: string }[]>`
    delete from members where account_id = ${accountId}::uuid returning user_id`;
  return sql.execute`
    delete from users u where id = any(${members.map(({ user_id }) => user_id)}::uuid[]) and staff is null
      and not exists (select from members where user_id = u.id)`;
}

async function deleteAllSends(
  database: Database,
  accountId: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let deleted = 0;
  while (!signal?.aborted) {
    const page = await database.sql.query<{ id: string; is_due: boolean }[]>`
      select s.id, s.is_due from applications p cross join lateral (
        select id, due_at is not null and mode = 'live' as is_due from sends where application_id = p.id order by id limit ${PAGE}
      ) s where p.account_id = ${accountId}::uuid limit ${PAGE}`;
    if (page.length === 0) return deleted;
    for (const { id } of page.filter(({ is_due }) => is_due))
      await changeSend(database, { id }, (send, now) => ({
        result: null,
        ...(send.dueAt !== null && { change: failure('expired_before_delivery', now) }),
      }));
    deleted += await deleteSends(
      database,
      page.map(({ id }) => id),
    );
  }
  return deleted;
}

/** Schedules an account's deletion in 30 days; an earlier schedule stays. @returns the account, or null if it does not exist */
export function scheduleDeletion(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeAccountRow(database, actor, 'account.schedule_deletion', id, async ({ sql }) => {
    await sql.execute`
      update accounts
      set delete_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(days => ${DELETION_DAYS}::integer)
      where id = ${id}::uuid and delete_at is null`;
  });
}

/**
 * Cancels a scheduled deletion, unless it is due and a worker may be executing it. The command line cancels it in any case, because it does
 * so only after a restore, while no worker runs.
 *
 * @returns the account, or null if it does not exist
 */
export function cancelDeletion(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeAccountRow(database, actor, 'account.cancel_deletion', id, async ({ sql }) => {
    await sql.execute`
      update accounts set delete_at = null
      where id = ${id}::uuid and (delete_at > clock_timestamp() or ${actor.kind} = 'command_line')`;
  });
}

/**
 * Deletes one of the accounts that are due for deletion. The audit log names the admin who requested it. The choice is random, so that an
 * account with a failing deletion does not block the others.
 *
 * @param signal ends the call early; a later call continues
 * @returns the account's id; null if none was deleted completely
 */
export async function deleteDueAccount(database: Database, signal: AbortSignal): Promise<string | null> {
  const [due] = await database.sql.query<(Actor & { accountId: string })[]>`
    select a.id as "accountId", e.actor_kind as kind, e.actor_id as id, e.actor_name as name
    from accounts a cross join lateral (
      select actor_kind, actor_id, actor_name from audit_entries
      where account_id = a.id and action = 'account.schedule_deletion' order by id desc limit 1
    ) e where a.delete_at <= clock_timestamp() order by random() limit 1`;
  if (due === undefined) return null;
  const { accountId, ...actor } = due;
  await deleteAccount(database, actor, accountId, 'requested by an admin of the account', signal);
  if (signal.aborted) return null;
  await database.sql.execute`update accounts set delete_at = null where id = ${accountId}::uuid`;
  return accountId;
}
