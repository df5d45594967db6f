import type { Locale } from '@onecode/domain';
import { accountColumns } from './accounts.js';
import { findAccount, type Account } from './accounts.js';
import { audited, type Actor } from '../audit/audit.js';
import { changedFields } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { newId } from '../client/ids.js';

/** Credits that were not granted: the account would have too many, or another grant has this id. Nothing was changed. */
export class GrantRefused extends Error {
  constructor(readonly why: 'too_many' | 'other_grant') {
    super(`credits were not granted: ${why}`);
  }
}

type GrantOutcome = 'granted' | 'repeated' | 'unknown' | GrantRefused['why'];

/**
 * Gives an account credits, with the reason in the ledger; a trial ends with them. One statement: the account's lock, for which
 * creations wait, is never held while an answer is on its way.
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
  grantId: string = newId(),
): Promise<Account | null> {
  const [{ outcome, ...account }] = await database.$queryRaw<[Account & { outcome: GrantOutcome }]>`
    with given as materialized (
      select * from grant_credits(${id}::uuid, ${amount}::integer, ${reason}, ${grantId}::uuid)
    ), noted as (
      insert into audit_entries (actor_kind, actor_id, actor_name, action, account_id, subject, details)
      select ${actor.kind}, ${actor.id}::uuid, ${actor.name}, ${'account.credit'}, (after).id, (after).id::text, jsonb_build_object(
        'amount', ${amount}::integer, 'reason', ${reason}::text,
        'before', ${grantedFields('before')}, 'after', ${grantedFields('after')}
      )
      from given where outcome = 'granted'
    )
    select outcome, ${accountColumns('(given.after)')} from given, settings`;
  if (outcome === 'too_many' || outcome === 'other_grant') throw new GrantRefused(outcome);
  return outcome === 'unknown' ? null : account;
}

/** What a grant changes of an account: its credits and, where it had one, its trial. */
const grantedFields = (row: 'before' | 'after'): Prisma.Sql => {
  const name = Prisma.raw(`(${row})`);
  return Prisma.sql`jsonb_build_object('credits', ${name}.credits) ||
    case when (before).trial_countries is null then '{}' else jsonb_build_object('trialCountries', ${name}.trial_countries) end`;
};

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
