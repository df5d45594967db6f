import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { accountColumns, findAccount, type Account } from './accounts.js';

/** The grant was refused and nothing changed: the account would have too many credits, or another grant has this id. */
export class GrantRefused extends Error {
  constructor(readonly why: 'too_many' | 'other_grant') {
    super(`credits were not granted: ${why}`);
  }
}

type GrantOutcome = 'granted' | 'repeated' | 'unknown' | GrantRefused['why'];

export interface GrantTerms {
  /** What the books call it, such as an invoice's number. */
  reference?: string | null;
  /** What is left of it then expires; null: never. */
  expiresAt?: Date | null;
  /** Makes a repetition harmless: the same grant with the same id is made once, and the answer is the same. */
  grantId?: string;
}

/**
 * Grants an account credits, with the reason in the ledger; the grant ends a trial. One statement, so that the account's lock, for
 * which creations wait, is never held during a round trip.
 *
 * @returns the account afterwards, or null when there is none
 * @throws GrantRefused
 */
export async function grantCredits(
  database: Database,
  actor: Actor,
  id: string,
  amount: number,
  reason: string,
  { reference = null, expiresAt = null, grantId = newId() }: GrantTerms = {},
): Promise<Account | null> {
  const [{ outcome, ...account }] = await database.sql.query<[Account & { outcome: GrantOutcome }]>`
    with given as materialized (
      select * from grant_credits(${id}::uuid, ${amount}::integer, ${reason}, ${grantId}::uuid, ${reference}, ${expiresAt}::timestamptz)
    ), logged as (
      insert into audit_entries (actor_kind, actor_id, actor_name, action, account_id, subject, details)
      select ${actor.kind}, ${actor.id}::uuid, ${actor.name}, ${'account.credit'}, (after).id, (after).id::text, jsonb_strip_nulls(jsonb_build_object(
        'amount', ${amount}::integer, 'reason', ${reason}::text, 'reference', ${reference}::text, 'expiresAt', ${expiresAt}::timestamptz
      )) || jsonb_build_object(
        'before', ${grantedFields('before')}, 'after', ${grantedFields('after')}
      )
      from given where outcome = 'granted'
    )
    select outcome, ${accountColumns('(given.after)')} from given, settings`;
  if (outcome === 'too_many' || outcome === 'other_grant') throw new GrantRefused(outcome);
  return outcome === 'unknown' ? null : account;
}

/** The fields of an account that a grant changes: its credits and, if it was on trial, its trial countries. */
const grantedFields = (row: 'before' | 'after'): Prisma.Sql => {
  const name = Prisma.raw(`(${row})`);
  return Prisma.sql`jsonb_build_object('credits', ${name}.credits) ||
    case when (before).trial_countries is null then '{}' else jsonb_build_object('trialCountries', ${name}.trial_countries) end`;
};

/** Takes from accounts the credits whose time is over. */
export async function expireCredits({ sql }: Connection): Promise<void> {
  const due = await sql.query<{ id: string }[]>`
    select distinct account_id as id from credit_grants where expires_at <= clock_timestamp()`;
  // One account at a time: creations lock several, in an order of their own.
  for (const { id } of due) await sql.execute`select expire_credits(${id}::uuid)`;
}

/**
 * Changes the fields that are given; a null `ratePerMinute` follows the setting.
 *
 * @returns the account afterwards, or null when there is no such account
 */
export async function changeAccount(
  database: Database,
  actor: Actor,
  id: string,
  data: Partial<Pick<Account, 'senders' | 'name' | 'language'>> & {
    ratePerMinute?: number | null;
  },
): Promise<Account | null> {
  return changeLocked(database, actor, 'account.change', id, async (connection) => {
    await connection.prisma.account.update({ where: { id }, data, select: CHANGEABLE });
  });
}

/**
 * Suspends an account: within a second, its keys stop being valid. Sends created before go on. An account that is suspended already
 * keeps its reason.
 *
 * @returns the account afterwards, or null when there is no such account
 */
export async function suspendAccount(
  database: Database,
  actor: Actor,
  id: string,
  reason: string,
): Promise<Account | null> {
  return changeLocked(database, actor, 'account.suspend', id, async (connection) => {
    await connection.sql.execute`
      update accounts set suspended_at = clock_timestamp(), suspension_reason = ${reason}
      where id = ${id}::uuid and suspended_at is null`;
  });
}

/** Ends an account's suspension: its keys are valid again. @returns the account afterwards, or null when there is no such account */
export async function resumeAccount(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeLocked(database, actor, 'account.resume', id, async (connection) => {
    await connection.sql.execute`
      update accounts set suspended_at = null, suspension_reason = null where id = ${id}::uuid`;
  });
}

const CHANGEABLE = {
  name: true,
  language: true,
  ratePerMinute: true,
  senders: true,
  suspendedAt: true,
  suspensionReason: true,
} as const;

/** Changes an account under its lock, so that the audit log's `before` is what the change found. */
async function changeLocked(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  change: (connection: Connection) => Promise<void>,
): Promise<Account | null> {
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from accounts where id = ${id}::uuid for no key update`;
    const before = await connection.prisma.account.findUnique({ where: { id }, select: CHANGEABLE });
    if (before === null) return null;
    await change(connection);
    const after = await connection.prisma.account.findUniqueOrThrow({ where: { id }, select: CHANGEABLE });
    const details = changedFields(before, after);
    if (details !== null) await log({ action, accountId: id, subject: id, details });
    return findAccount(connection, id);
  });
}
