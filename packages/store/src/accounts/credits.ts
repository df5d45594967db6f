import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { findAccount, type Account } from './accounts.js';

/** Nothing was granted, because another grant has this id. */
export class GrantIdTaken extends Error {}

export interface GrantTerms {
  /** The operator's reference for bookkeeping, such as an invoice number. */
  reference?: string | null;
  /** When the rest of the grant expires; null for never. */
  expiresAt?: Date | null;
  /** Idempotency key of the grant: a repeat with the same id and terms grants nothing more, and returns the account as it is now. */
  grantId?: string;
}

/**
 * Grants credits to an account, with the reason in the ledger, and ends a trial.
 *
 * @returns the changed account, or null if it does not exist
 * @throws GrantIdTaken
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
        throw new GrantIdTaken('credits were not granted: another grant has this id');
      return before;
    }
    // Before the first grant, the account's credits have no row. They never expire.
    await sql.execute`
      insert into credit_grants (account_id, units) values (${id}::uuid, ${before.credits}) on conflict do nothing`;
    await sql.execute`
      insert into credit_grants (account_id, expires_at, units) values (${id}::uuid, ${expiresAt}::timestamptz, ${amount}::integer)
      on conflict (account_id, expires_at) do update set units = credit_grants.units + excluded.units`;
    await sql.execute`
      update accounts set credits = credits + ${amount}::integer, trial_countries = null where id = ${id}::uuid`;
    const after = { ...before, credits: before.credits + amount, trialCountries: null };
    const terms = { reference: reference ?? undefined, expiresAt: expiresAt ?? undefined };
    const details = { amount, reason, ...terms, ...changedFields(before, after) };
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
