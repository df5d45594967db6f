import { audited, changedFields, changeRow, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { AbuseControls } from './abuseControls.js';
import { findAccount, type Account } from './accounts.js';

/** The grant was refused and nothing changed: the account would have too many credits, or another grant has this id. */
export class GrantRefused extends Error {
  constructor(readonly why: 'too_many' | 'other_grant') {
    super(`credits were not granted: ${why}`);
  }
}

export interface GrantTerms {
  /** The operator's reference for bookkeeping, such as an invoice number. */
  reference?: string | null;
  /** When the rest of the grant expires; null for never. */
  expiresAt?: Date | null;
  /** Idempotency key of the grant: a repeat with the same id grants nothing more and returns the same result. */
  grantId?: string;
}

/** The maximum of the column, minus room for refunded units. */
const CREDITS_MAX = 2_000_000_000;

/**
 * Grants credits to an account, with the reason in the ledger, and ends a trial.
 *
 * @returns the changed account, or null if it does not exist
 * @throws GrantRefused
 */
export function grantCredits(
  database: Database,
  actor: Actor,
  id: string,
  amount: number,
  reason: string,
  { reference = null, expiresAt = null, grantId = newId() }: GrantTerms = {},
): Promise<Account | null> {
  return audited(database, actor, async (connection, log) => {
    const { sql } = connection;
    // Locks the account. Units used until now are taken from the grants before this one.
    await sql.execute`select expire_credits(${id}::uuid)`;
    const before = await findAccount(connection, id);
    if (before === null) return null;
    const granted = await sql.execute`
      insert into ledger_entries (account_id, kind, bucket, units, reason, grant_id, reference, expires_at)
      values (${id}::uuid, 'granted', 'credit', ${amount}, ${reason}, ${grantId}::uuid, ${reference}, ${expiresAt}::timestamptz)
      on conflict do nothing`;
    if (granted === 0) {
      const same = { grantId, accountId: id, units: amount, reason, reference, expiresAt };
      if ((await connection.prisma.ledgerEntry.count({ where: same })) === 0)
        throw new GrantRefused('other_grant');
      return before;
    }
    if (before.credits > CREDITS_MAX - amount) throw new GrantRefused('too_many');
    await sql.execute`
      insert into credit_grants (account_id, units) values (${id}::uuid, ${before.credits}) on conflict do nothing`;
    await sql.execute`
      insert into credit_grants (account_id, expires_at, units) values (${id}::uuid, ${expiresAt}::timestamptz, ${amount}::integer)
      on conflict (account_id, expires_at) do update set units = credit_grants.units + excluded.units`;
    await sql.execute`
      update accounts set credits = credits + ${amount}::integer, trial_countries = null where id = ${id}::uuid`;
    const after = { ...before, credits: before.credits + amount, trialCountries: null };
    const details = {
      amount,
      reason,
      ...(reference !== null && { reference }),
      ...(expiresAt !== null && { expiresAt }),
      ...changedFields(before, after),
    };
    await log({ action: 'account.credit', accountId: id, subject: id, details });
    return after;
  });
}

/** Removes the expired credits of all accounts. */
export async function expireCredits({ sql }: Connection): Promise<void> {
  const due = await sql.query<{ id: string }[]>`
    select distinct account_id as id from credit_grants where expires_at <= clock_timestamp()`;
  // Locks one account at a time, because creations lock several accounts in a different order.
  for (const { id } of due) await sql.execute`select expire_credits(${id}::uuid)`;
}

/** The fields of an account that `changeAccount` sets. */
interface ChangeableFields
  extends
    Pick<Account, 'name' | 'language' | 'senders'>,
    Pick<AbuseControls, 'allowedCountries' | 'allowsPremiumRate' | 'unitsPerDay' | 'unitsPerMonth'> {
  /** Null follows the setting. */
  ratePerMinute: number | null;
}

/** Changes the given fields. @returns the changed account, or null if it does not exist */
export function changeAccount(
  database: Database,
  actor: Actor,
  id: string,
  { allowedCountries, ...data }: Partial<ChangeableFields>,
): Promise<Account | null> {
  return change(database, actor, 'account.change', id, async ({ prisma, sql }) => {
    await prisma.account.update({ where: { id }, data, select: { id: true } });
    // Prisma cannot set a list to null.
    if (allowedCountries !== undefined)
      await sql.execute`update accounts set allowed_countries = ${allowedCountries}::text[] where id = ${id}::uuid`;
  });
}

/**
 * Suspends an account: its keys stop being valid within a second. Earlier sends continue. A suspended account
 * keeps its time and gets the new reason.
 *
 * @returns the changed account, or null if it does not exist
 */
export function suspendAccount(
  database: Database,
  actor: Actor,
  id: string,
  reason: string,
): Promise<Account | null> {
  return change(
    database,
    actor,
    'account.suspend',
    id,
    ({ sql }) => sql.execute`
      update accounts set suspended_at = coalesce(suspended_at, clock_timestamp()), suspension_reason = ${reason}
      where id = ${id}::uuid and suspension_reason is distinct from ${reason}`,
  );
}

/** Ends an account's suspension: its keys are valid again. @returns the changed account, or null if it does not exist */
export function resumeAccount(database: Database, actor: Actor, id: string): Promise<Account | null> {
  const data = { suspendedAt: null, suspensionReason: null };
  return change(database, actor, 'account.resume', id, ({ prisma }) =>
    prisma.account.update({ where: { id }, data, select: { id: true } }),
  );
}

async function change(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  write: (connection: Connection) => Promise<unknown>,
): Promise<Account | null> {
  const read = async ({ sql }: Connection) => {
    const [fields] = await sql.query<object[]>`
      select name, language, senders, rate_per_minute as "ratePerMinute", suspended_at as "suspendedAt",
        suspension_reason as "suspensionReason", allowed_countries as "allowedCountries", allows_premium_rate as "allowsPremiumRate",
        units_per_day as "unitsPerDay", units_per_month as "unitsPerMonth"
      from accounts where id = ${id}::uuid`;
    return fields ?? null;
  };
  const row = { action, table: 'accounts', id, read } as const;
  return (await changeRow(database, actor, row, write)) && findAccount(database, id);
}
