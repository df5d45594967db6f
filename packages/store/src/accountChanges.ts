import type { Locale } from '@onecode/domain';
import { accountColumns } from './accountRow.js';
import { findAccount, type Account } from './accounts.js';
import { audited, type Actor } from './audit.js';
import { changedFields } from './changedFields.js';
import type { Connection, Database } from './database.js';

/** What the column can hold, less room for the units of sends that come back. */
const CREDITS_MAX = 2_000_000_000;

/** Credits that were not granted: the account would have too many, or another grant has this id. Nothing was changed. */
export class GrantRefused extends Error {
  constructor(readonly why: 'too_many' | 'other_grant') {
    super(`credits were not granted: ${why}`);
  }
}

/**
 * Gives an account credits, with the reason in the ledger.
 *
 * @param grantId makes a repetition harmless: the same grant with the same id is made once, and answered alike
 * @returns the account afterwards, or null when there is none
 * @throws GrantRefused
 */
export async function grantCredits(
  database: Database,
  actor: Actor,
  id: string,
  amount: number,
  reason: string,
  grantId: string | null = null,
): Promise<Account | null> {
  return audited(database, actor, async (connection) => {
    await connection.$executeRaw`select from accounts where id = ${id}::uuid for no key update`;
    const account = await findAccount(connection, id);
    const grant = { accountId: id, amount, reason };
    if (account === null || (grantId !== null && !(await takeGrantId(connection, grantId, grant))))
      return { result: account, note: null };
    if (account.credits + amount > CREDITS_MAX) throw new GrantRefused('too_many');
    const credited = await addCredits(connection, grant);
    const { credits } = credited;
    const details = { amount, reason, before: { credits: account.credits }, after: { credits } };
    return { result: credited, note: { action: 'account.credit', accountId: id, subject: id, details } };
  });
}

interface Grant {
  accountId: string;
  amount: number;
  reason: string;
}

/**
 * Takes an id for this grant; of many requests at once one gets it, and the others wait for that one's end.
 *
 * @returns false when this very grant was made before
 * @throws GrantRefused when the id is another one's
 */
async function takeGrantId(connection: Connection, id: string, grant: Grant): Promise<boolean> {
  const { count } = await connection.creditGrant.createMany({ data: { id, ...grant }, skipDuplicates: true });
  if (count === 1) return true;
  if ((await connection.creditGrant.count({ where: { id, ...grant } })) === 0)
    throw new GrantRefused('other_grant');
  return false;
}

async function addCredits(connection: Connection, { accountId, amount, reason }: Grant): Promise<Account> {
  const [row] = await connection.$queryRaw<[Account]>`
    with changed as (
      update accounts set credits = credits + ${amount}::integer where id = ${accountId}::uuid returning *
    ), granted as (
      insert into ledger_entries (account_id, kind, bucket, units, reason)
      select id, 'granted', 'credit', ${amount}::integer, ${reason} from changed
    )
    select ${accountColumns('changed')} from changed, settings`;
  return row;
}

/** Changes what is given; a null `ratePerMinute` follows the setting. @returns the account afterwards, or null when there is none */
export async function changeAccount(
  database: Database,
  actor: Actor,
  id: string,
  change: { ratePerMinute?: number | null; name?: string; language?: Locale },
): Promise<Account | null> {
  const { ratePerMinute, name, language } = change;
  const data = {
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(name !== undefined && { name }),
    ...(language !== undefined && { language }),
  };
  return changeLocked(database, actor, 'account.change', id, async (connection) => {
    await connection.account.update({ where: { id }, data, select: OWN });
  });
}

/**
 * Refuses all requests of an account from within a second on: its keys are not valid. What it sent before goes on. An account
 * that is suspended already stays so, with its reason.
 *
 * @returns the account afterwards, or null when there is none
 */
export async function suspendAccount(
  database: Database,
  actor: Actor,
  id: string,
  reason: string,
): Promise<Account | null> {
  return changeLocked(database, actor, 'account.suspend', id, async (connection) => {
    await connection.$executeRaw`
      update accounts set suspended_at = clock_timestamp(), suspension_reason = ${reason}
      where id = ${id}::uuid and suspended_at is null`;
  });
}

/** Ends an account's suspension: its keys are valid again. @returns the account afterwards, or null when there is none */
export async function resumeAccount(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeLocked(database, actor, 'account.resume', id, async (connection) => {
    await connection.$executeRaw`
      update accounts set suspended_at = null, suspension_reason = null where id = ${id}::uuid`;
  });
}

const OWN = {
  name: true,
  language: true,
  ratePerMinute: true,
  suspendedAt: true,
  suspensionReason: true,
} as const;

/** A change of an account under its lock, so that what the log calls before is what was there. */
async function changeLocked(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  change: (connection: Connection) => Promise<void>,
): Promise<Account | null> {
  return audited(database, actor, async (connection) => {
    await connection.$executeRaw`select from accounts where id = ${id}::uuid for no key update`;
    const before = await connection.account.findUnique({ where: { id }, select: OWN });
    if (before === null) return { result: null, note: null };
    await change(connection);
    const after = await connection.account.findUniqueOrThrow({ where: { id }, select: OWN });
    const details = changedFields(before, after);
    return {
      result: await findAccount(connection, id),
      note: details && { action, accountId: id, subject: id, details },
    };
  });
}
