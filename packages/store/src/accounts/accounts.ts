import type { Locale } from '@onecode/domain';
import { type Actor, audited } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';

/** An account as operators see it. */
export interface Account {
  id: string;
  name: string;
  language: Locale;
  freeQuota: number;
  credits: number;
  /** The creation limit in force: the account's own, or the setting's. */
  ratePerMinute: number;
  /** While it stands, the account's keys are not valid. */
  suspendedAt: Date | null;
  suspensionReason: string | null;
  /** While an account that its owner made has had no credits, it may send to these countries only (ISO 3166 codes). Null for all others. */
  trialCountries: string[] | null;
}

export interface NewAccount {
  name: string;
  language: Locale;
  /** Null takes the setting `free_sends`. */
  freeQuota: number | null;
  credits: number;
  /** Null follows the setting. */
  ratePerMinute: number | null;
}

/** Makes an account, with ledger entries for what it was given. */
export async function createAccount(database: Database, actor: Actor, account: NewAccount): Promise<Account> {
  return audited(database, actor, async (connection) => {
    const made = await insertAccount(connection, account, null);
    const { id, name, language, freeQuota, credits } = made;
    const after = { name, language, freeQuota, credits, ratePerMinute: account.ratePerMinute };
    return {
      result: made,
      note: { action: 'account.create', accountId: id, subject: id, details: { after } },
    };
  });
}

/** The account, or null. */
export async function findAccount(database: Connection, id: string): Promise<Account | null> {
  const [row] = await database.$queryRaw<Account[]>`
    select ${accountColumns('a')} from accounts a, settings where a.id = ${id}::uuid`;
  return row ?? null;
}

/** The columns of an `Account`, of `accounts` by the name given and `settings`. */
export const accountColumns = (alias: string): Prisma.Sql => {
  const name = Prisma.raw(alias);
  return Prisma.sql`${name}.id, ${name}.name, ${name}.language, ${name}.free_quota as "freeQuota", ${name}.credits,
    coalesce(${name}.rate_per_minute, settings.account_rate_per_minute) as "ratePerMinute",
    ${name}.suspended_at as "suspendedAt", ${name}.suspension_reason as "suspensionReason",
    ${name}.trial_countries as "trialCountries"`;
};

/**
 * Makes an account, with ledger entries for what it was given.
 *
 * @param trialCountries where it may send while it is on trial; null for one that is not
 */
export async function insertAccount(
  connection: Connection,
  account: NewAccount,
  trialCountries: readonly string[] | null,
): Promise<Account> {
  const id = newId();
  const [row] = await connection.$queryRaw<[Account]>`
    with made as (
      insert into accounts (id, name, language, free_quota, credits, rate_per_minute, trial_countries)
      select ${id}::uuid, ${account.name}, ${account.language}, coalesce(${account.freeQuota}::integer, free_sends),
        ${account.credits}::integer, ${account.ratePerMinute}::integer, ${trialCountries}::text[]
      from settings
      returning *
    ), granted as (
      insert into ledger_entries (account_id, kind, bucket, units, reason)
      select made.id, 'granted', g.bucket, g.units, 'account created'
      from made, lateral (values ('free_quota', made.free_quota), ('credit', made.credits)) as g (bucket, units)
      where g.units > 0
    )
    select ${accountColumns('made')} from made, settings`;
  return row;
}
