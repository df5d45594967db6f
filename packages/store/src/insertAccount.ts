import { accountColumns } from './accountRow.js';
import type { Account, NewAccount } from './accounts.js';
import type { Connection } from './database.js';
import { newId } from './identifiers.js';

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
