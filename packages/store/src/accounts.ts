import type { Locale } from '@onecode/domain';
import { accountColumns } from './accountRow.js';
import { audited, type Actor } from './audit.js';
import type { Connection, Database } from './database.js';
import { insertAccount } from './insertAccount.js';

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
