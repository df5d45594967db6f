import { changeRow, type Actor } from '../operations/audit.js';
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
  /** The operator's reference for bookkeeping, such as an invoice number. */
  reference?: string | null;
  /** When the rest of the grant expires; null for never. */
  expiresAt?: Date | null;
  /** Idempotency key of the grant: a repeat with the same id grants nothing more and returns the same result. */
  grantId?: string;
}

/**
 * Grants credits to an account, with the reason in the ledger, and ends a trial. Runs as one statement, so that it never holds the
 * account's lock during a round trip: creations wait for this lock.
 *
 * @returns the changed account, or null if it does not exist
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

/** Returns the fields of an account that a grant changes: its credits and, if it was on trial, its trial countries. */
const grantedFields = (row: 'before' | 'after'): Prisma.Sql => {
  const name = Prisma.raw(`(${row})`);
  return Prisma.sql`jsonb_build_object('credits', ${name}.credits) ||
    case when (before).trial_countries is null then '{}' else jsonb_build_object('trialCountries', ${name}.trial_countries) end`;
};

/** Removes the expired credits of all accounts. */
export async function expireCredits({ sql }: Connection): Promise<void> {
  const due = await sql.query<{ id: string }[]>`
    select distinct account_id as id from credit_grants where expires_at <= clock_timestamp()`;
  // Locks one account at a time, because creations lock several accounts in a different order.
  for (const { id } of due) await sql.execute`select expire_credits(${id}::uuid)`;
}

/** Changes the given fields; a null `ratePerMinute` follows the setting. @returns the changed account, or null if it does not exist */
export async function changeAccount(
  database: Database,
  actor: Actor,
  id: string,
  data: Partial<Pick<Account, 'senders' | 'name' | 'language'>> & {
    ratePerMinute?: number | null;
  },
): Promise<Account | null> {
  return changeLocked(database, actor, 'account.change', id, ({ prisma }) =>
    prisma.account.update({ where: { id }, data, select: { id: true } }),
  );
}

/**
 * Suspends an account: its keys stop being valid within a second. Earlier sends continue. A suspended account keeps its reason.
 *
 * @returns the changed account, or null if it does not exist
 */
export async function suspendAccount(
  database: Database,
  actor: Actor,
  id: string,
  reason: string,
): Promise<Account | null> {
  return changeLocked(
    database,
    actor,
    'account.suspend',
    id,
    ({ sql }) =>
      sql.execute`
      update accounts set suspended_at = clock_timestamp(), suspension_reason = ${reason}
      where id = ${id}::uuid and suspended_at is null`,
  );
}

/** Ends an account's suspension: its keys are valid again. @returns the changed account, or null if it does not exist */
export async function resumeAccount(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeLocked(
    database,
    actor,
    'account.resume',
    id,
    ({ sql }) =>
      sql.execute`update accounts set suspended_at = null, suspension_reason = null where id = ${id}::uuid`,
  );
}

const CHANGEABLE = {
  name: true,
  language: true,
  ratePerMinute: true,
  senders: true,
  suspendedAt: true,
  suspensionReason: true,
} as const;

async function changeLocked(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  change: (connection: Connection) => Promise<unknown>,
): Promise<Account | null> {
  const read = ({ prisma }: Connection) => prisma.account.findUnique({ where: { id }, select: CHANGEABLE });
  const row = { action, table: 'accounts', id, read, accountOf: () => id } as const;
  return (await changeRow(database, actor, row, change)) && findAccount(database, id);
}
