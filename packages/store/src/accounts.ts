import type { Locale } from '@onecode/domain';
import type { Database } from './database.js';
import { newId } from './identifiers.js';

/** An account as operators see it. */
export interface Account {
  id: string;
  name: string;
  language: Locale;
  freeQuota: number;
  credits: number;
  /** The creation limit in force: the account's own, or the setting's. */
  ratePerMinute: number;
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

interface AccountRow {
  id: string;
  name: string;
  language: Locale;
  free_quota: number;
  credits: number;
  rate_per_minute: number;
}

const accountOf = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  language: row.language,
  freeQuota: row.free_quota,
  credits: row.credits,
  ratePerMinute: row.rate_per_minute,
});

/** Makes an account, with ledger entries for what it was given, in one statement. */
export async function createAccount(database: Database, account: NewAccount): Promise<Account> {
  const id = newId();
  const [row] = await database.$queryRaw<[AccountRow]>`
    with made as (
      insert into accounts (id, name, language, free_quota, credits, rate_per_minute)
      select ${id}::uuid, ${account.name}, ${account.language}, coalesce(${account.freeQuota}::integer, free_sends),
        ${account.credits}::integer, ${account.ratePerMinute}::integer
      from settings
      returning *
    ), granted as (
      insert into ledger_entries (account_id, kind, bucket, units, reason)
      select made.id, 'granted', g.bucket, g.units, 'account created'
      from made, lateral (values ('free_quota', made.free_quota), ('credit', made.credits)) as g (bucket, units)
      where g.units > 0
    )
    select made.id, name, language, free_quota, credits, coalesce(rate_per_minute, account_rate_per_minute) as rate_per_minute
    from made, settings`;
  return accountOf(row);
}

/** The account, or null. */
export async function findAccount(database: Database, id: string): Promise<Account | null> {
  const [row] = await database.$queryRaw<AccountRow[]>`
    select a.id, name, language, free_quota, credits, coalesce(rate_per_minute, account_rate_per_minute) as rate_per_minute
    from accounts a, settings where a.id = ${id}::uuid`;
  return row === undefined ? null : accountOf(row);
}

/** Gives an account credits, with the reason in the ledger. @returns the account afterwards, or null when there is none */
export async function grantCredits(
  database: Database,
  id: string,
  amount: number,
  reason: string,
): Promise<Account | null> {
  const [row] = await database.$queryRaw<AccountRow[]>`
    with changed as (
      update accounts set credits = credits + ${amount}::integer where id = ${id}::uuid returning *
    ), granted as (
      insert into ledger_entries (account_id, kind, bucket, units, reason)
      select id, 'granted', 'credit', ${amount}::integer, ${reason} from changed
    )
    select changed.id, name, language, free_quota, credits,
      coalesce(rate_per_minute, account_rate_per_minute) as rate_per_minute
    from changed, settings`;
  return row === undefined ? null : accountOf(row);
}
