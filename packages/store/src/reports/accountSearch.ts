import { accountColumns } from '../accounts/accounts.js';
import type { Account } from '../accounts/accounts.js';
import type { Connection } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { isId } from '../client/ids.js';

/** An account in a list of operators. */
export interface FoundAccount extends Account {
  createdAt: Date;
  sendsCreated: number;
  /** Whether its live sends are held by a kill switch of its own. */
  held: boolean;
}

/** As long as a name may be. */
const TEXT_LENGTH_MAX = 200;

/**
 * Accounts, newest first: the one with this id, or those whose name has a word that begins with each word of the text, or all.
 * `before` is the id of the last account of the page before.
 */
export async function searchAccounts(
  database: Connection,
  { text = '', before, limit }: { text?: string; before?: string; limit: number },
): Promise<FoundAccount[]> {
  const cursor = before === undefined ? Prisma.empty : Prisma.sql`and a.id < ${before}::uuid`;
  return database.$queryRaw<FoundAccount[]>`
    select ${accountColumns('a')}, a.created_at as "createdAt", a.sends_created::float8 as "sendsCreated",
      exists (select from holds h where h.kind = 'account' and h.target = a.id::text) as held
    from accounts a, settings
    where ${matching(text.trim())} ${cursor}
    order by a.id desc limit ${limit}::integer`;
}

function matching(text: string): Prisma.Sql {
  if (text === '') return Prisma.sql`true`;
  if (isId(text)) return Prisma.sql`a.id = ${text}::uuid`;
  // PostgreSQL holds no NUL.
  const words = text.replaceAll('\0', ' ').slice(0, TEXT_LENGTH_MAX);
  // An array is made once, by the index of words. As a join, a planner would rather read all names from the newest account on.
  return Prisma.sql`a.id = any(array(
    select w.id from accounts w where array_to_tsvector(name_words(w.name)) @@ (
      select string_agg(quote_literal(word) || ':*', ' & ')::tsquery from unnest(name_words(${words})) word
    )
  ))`;
}
