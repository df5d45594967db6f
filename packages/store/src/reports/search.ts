import { maskRecipient, type DeliveryState } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** The possible meanings of a search text; an omitted field finds nothing. */
export interface SearchTerms {
  /** The id of a send or request. */
  id?: string;
  /** The last digits of a recipient, at least four. */
  recipientEnd?: string;
  /** The bytes of an idempotency key, in each possible form. */
  idempotencyKeys: readonly Uint8Array[];
  idempotencyKeyHashes: readonly Uint8Array[];
  /** The last four characters of an API key. */
  keyEnd?: string;
}

/** A search result, with its account. A send's recipient is included only when searching within one account. */
export type Found = { id: string; accountId: string; accountName: string; at: Date } & (
  | { kind: 'send'; recipientMasked: string | null; status: DeliveryState }
  | { kind: 'request'; code: string }
  | { kind: 'key'; hint: string; name: string | null; applicationId: string }
);

/** The most results of each kind. */
const FOUND_MAX = 5;
/** How many of the newest sends, of one application or of all, are searched without an index. */
const SEARCHED_MAX = 40_000;

/** Searches an account's objects, or those of all accounts: sends, refused requests and keys, newest of each kind first. */
export async function search(
  database: Database,
  accountId: string | null,
  terms: SearchTerms,
): Promise<Found[]> {
  const found = await Promise.all([
    searchSends(database, accountId, terms),
    searchRequests(database, accountId, terms),
    terms.keyEnd === undefined ? [] : searchKeys(database, accountId, terms.keyEnd),
  ]);
  return found.flat();
}

/** Returns the condition for an application `a`. */
const within = (accountId: string | null): Prisma.Sql =>
  accountId === null ? Prisma.sql`true` : Prisma.sql`a.account_id = ${accountId}::uuid`;

async function searchSends(
  database: Database,
  accountId: string | null,
  { id, recipientEnd, idempotencyKeys }: SearchTerms,
): Promise<Found[]> {
  const newest = Prisma.sql`
    select s.id from applications a cross join lateral (
      select s.* from sends s where s.application_id = a.id order by s.id desc limit ${SEARCHED_MAX}::integer
    ) s where ${within(accountId)}`;
  const ways = [
    Prisma.sql`select s.id from applications a join sends s on s.application_id = a.id
      and s.idempotency_key = any(${[...idempotencyKeys]}::bytea[]) where ${within(accountId)}`,
  ];
  if (id !== undefined)
    ways.push(
      Prisma.sql`select ${id}::uuid`,
      accountId === null
        ? Prisma.sql`select s.id from (select * from sends order by id desc limit ${SEARCHED_MAX}::integer) s
            where s.request_id = ${id}::uuid`
        : Prisma.sql`${newest} and s.request_id = ${id}::uuid`,
    );
  // Recipients can be searched only within one account, by its members.
  if (recipientEnd !== undefined && accountId !== null)
    ways.push(
      Prisma.sql`${newest} and right(s.recipient, ${recipientEnd.length}::integer) = ${recipientEnd}`,
    );
  const rows = await database.sql.query<(Extract<Found, { kind: 'send' }> & { recipient: string })[]>`
    select 'send' as kind, s.id, s.account_id as "accountId", o.name as "accountName", s.created_at as at, s.recipient, s.status
    from sends s join applications a on a.id = s.application_id join accounts o on o.id = s.account_id
    where s.id = any(array(${Prisma.join(ways, ' union ')})) and ${within(accountId)}
    order by s.id desc limit ${FOUND_MAX}::integer`;
  return rows.map(({ recipient, ...row }) => ({
    ...row,
    recipientMasked: accountId && maskRecipient(recipient),
  }));
}

function searchRequests(
  database: Database,
  accountId: string | null,
  { id, idempotencyKeyHashes }: SearchTerms,
): Promise<Found[]> {
  return database.sql.query<Found[]>`
    select 'request' as kind, r.request_id as id, r.account_id as "accountId", o.name as "accountName", r.refused_at as at, r.code
    from refused_requests r join accounts o on o.id = r.account_id
    where (r.request_id = ${id ?? null}::uuid or r.idempotency_key_hash = any(${[...idempotencyKeyHashes]}::bytea[]))
      and ${accountId === null ? Prisma.sql`true` : Prisma.sql`r.account_id = ${accountId}::uuid`}
    order by r.refused_at desc limit ${FOUND_MAX}::integer`;
}

function searchKeys(database: Database, accountId: string | null, end: string): Promise<Found[]> {
  return database.sql.query<Found[]>`
    select 'key' as kind, k.id, a.account_id as "accountId", o.name as "accountName", k.created_at as at, k.hint, k.name,
      a.id as "applicationId"
    from api_keys k join applications a on a.id = k.application_id join accounts o on o.id = a.account_id
    where right(k.hint, 4) = ${end} and not k.is_tryout and ${within(accountId)}
    order by k.id desc limit ${FOUND_MAX}::integer`;
}

/** Returns the accounts of the person with this e-mail address, newest first. */
export function searchAccountsByEmail(
  database: Database,
  email: string,
): Promise<{ id: string; name: string; email: string }[]> {
  // PostgreSQL stores no NUL.
  const address = email.replaceAll('\0', ' ').toLowerCase();
  return database.sql.query<{ id: string; name: string; email: string }[]>`
    select a.id, a.name, u.email from users u join members m on m.user_id = u.id join accounts a on a.id = m.account_id
    where u.email = ${address} order by a.id desc limit ${FOUND_MAX}::integer`;
}
