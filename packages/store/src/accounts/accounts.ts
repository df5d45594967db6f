import type { Locale } from '@onecode/domain';
import { type Actor, audited, type Log } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';

/** Which senders an account's sends use: the senders that all accounts share (`shared`), or only its own (`own`). */
export const SENDER_POLICIES = ['shared', 'own'] as const;
export type SenderPolicy = (typeof SENDER_POLICIES)[number];

export interface Account {
  id: string;
  name: string;
  language: Locale;
  freeQuota: number;
  credits: number;
  /** The creation limit in force: the account's own, or the setting. */
  ratePerMinute: number;
  senders: SenderPolicy;
  /** Null unless the account is suspended, which makes its keys invalid. */
  suspendedAt: Date | null;
  suspensionReason: string | null;
  /**
   * For an account on trial (created by its owner, until its first credits): the only countries that it may send to (ISO 3166). Null
   * otherwise.
   */
  trialCountries: string[] | null;
}

export interface NewAccount extends Pick<Account, 'name' | 'language' | 'credits'> {
  /** Null for the setting `free_sends`. */
  freeQuota: number | null;
  /** Null follows the setting. */
  ratePerMinute: number | null;
}

/** Creates an account, with ledger entries for its initial units. */
export async function createAccount(database: Database, actor: Actor, account: NewAccount): Promise<Account> {
  return audited(database, actor, (connection, log) => insertAccount(connection, log, account, null));
}

/** Returns an account, or null if it does not exist. */
export async function findAccount(database: Connection, id: string): Promise<Account | null> {
  const [row] = await database.sql.query<Account[]>`
    select ${ACCOUNT_COLUMNS} from accounts a, settings where a.id = ${id}::uuid`;
  return row ?? null;
}

/** The select list of an `Account`, from `settings` and a row `a` of `accounts`. */
export const ACCOUNT_COLUMNS = Prisma.sql`a.id, a.name, a.language, a.free_quota as "freeQuota", a.credits,
  coalesce(a.rate_per_minute, settings.account_rate_per_minute) as "ratePerMinute", a.senders, a.suspended_at as "suspendedAt",
  a.suspension_reason as "suspensionReason", a.trial_countries as "trialCountries"`;

/**
 * Creates and logs an account, with ledger entries for its initial units, in the caller's transaction.
 *
 * @param trialCountries the countries to which a trial account may send; null without a trial. A trial account starts with safe limits,
 * until one of its admins changes them: no sends to other countries or to satellite and premium-rate numbers, and a daily ceiling
 */
export async function insertAccount(
  connection: Connection,
  log: Log,
  account: NewAccount,
  trialCountries: readonly string[] | null,
): Promise<Account> {
  const id = newId();
  const [row] = await connection.sql.query<[Account]>`
    with a as (
      insert into accounts (id, name, language, free_quota, credits, rate_per_minute, trial_countries, allowed_countries, allows_premium_rate,
        units_per_day)
      select ${id}::uuid, ${account.name}, ${account.language}, coalesce(${account.freeQuota}::integer, free_sends),
        ${account.credits}::integer, ${account.ratePerMinute}::integer, t.countries, t.countries, t.countries is null,
        case when t.countries is not null then new_account_units_per_day end
      from settings, (select ${trialCountries}::text[] as countries) t
      returning *
    ), granted as (
      insert into ledger_entries (account_id, kind, bucket, units, reason)
      select a.id, 'granted', g.bucket, g.units, 'account created'
      from a, lateral (values ('free_quota', a.free_quota), ('credit', a.credits)) as g (bucket, units)
      where g.units > 0
    )
    select ${ACCOUNT_COLUMNS} from a, settings`;
  const after = { ...account, freeQuota: row.freeQuota, ...(trialCountries && { trialCountries }) };
  await log({ action: 'account.create', accountId: id, subject: id, details: { after } });
  return row;
}
