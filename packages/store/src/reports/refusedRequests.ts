import type { Database } from '../client/database.js';
import { bytesText } from '../client/sql.js';
import { REFUSED_REQUESTS_PER_MINUTE } from '../accounts/refusedRequests.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Page } from './pages.js';

/** A refused request as it is listed. */
export interface ListedRefusedRequest {
  requestId: string;
  refusedAt: Date;
  /** Method and pattern, such as `POST /v1/send/:id/verify`. */
  route: string;
  status: number;
  /** A problem code; a newer process may have written one that this release does not know. */
  code: string;
  detail: string | null;
  /** The names of the faulty fields. */
  fields: string[];
  /** Null for a tryout, whose key ended with it. */
  keyHint: string | null;
  applicationId: string;
  applicationName: string;
}

/** Which refused requests of an account; a field that is left out restricts nothing. */
export interface RefusedRequestFilter {
  applicationId?: string;
  code?: string;
  /** Those of the last hours. */
  hours?: number;
}

/** What names refused requests: any of these. */
export interface RefusedRequestSearch {
  requestId?: string;
  idempotencyKeyHashes: readonly Uint8Array[];
}

export interface RefusedRequestPage {
  requests: ListedRefusedRequest[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/**
 * An account's refused requests, newest first. `before` is the `next` of the page before: the id of its last request. When that one was
 * deleted in between, so were all that are older, and the list ends.
 */
export async function listRefusedRequests(
  database: Database,
  accountId: string,
  { applicationId, code, hours }: RefusedRequestFilter,
  page: Page,
): Promise<RefusedRequestPage> {
  const keys = [accountKey(accountId)];
  if (applicationId !== undefined)
    keys.push({ column: Prisma.sql`r.application_id`, value: Prisma.sql`${applicationId}::uuid` });
  if (code !== undefined) keys.push({ column: Prisma.sql`r.code`, value: Prisma.sql`${code}` });
  return readPage(database, newest(keys, lastTime(accountId, page), page, hours), page);
}

/** An account's refused requests with this id or with one of these hashes of their idempotency key, newest first. Pages as of the list. */
export async function findRefusedRequests(
  database: Database,
  accountId: string,
  { requestId, idempotencyKeyHashes }: RefusedRequestSearch,
  page: Page,
): Promise<RefusedRequestPage> {
  const last = lastTime(accountId, page);
  const found = idempotencyKeyHashes.map((hash) => {
    const key = { column: Prisma.sql`r.idempotency_key_hash`, value: Prisma.sql`${bytesText(hash)}::bytea` };
    return newest([accountKey(accountId), key], last, page);
  });
  if (requestId !== undefined)
    found.push(Prisma.sql`
      select r.* from refused_requests r
      where r.request_id = ${requestId}::uuid and r.account_id = ${accountId}::uuid
        ${last === null ? Prisma.empty : Prisma.sql`and (r.refused_at, r.request_id) < (${last}, ${page.before}::uuid)`}`);
  if (found.length === 0) return { requests: [], next: null };
  const parts = found.map((one) => Prisma.sql`(${one})`);
  return readPage(database, Prisma.join(parts, ' union '), page);
}

/** A column of an index before its times, and what is looked for in it. */
interface Key {
  column: Prisma.Sql;
  value: Prisma.Sql;
}

const accountKey = (accountId: string): Key => ({
  column: Prisma.sql`r.account_id`,
  value: Prisma.sql`${accountId}::uuid`,
});

/** When the last request of the page before was refused; null on the first page. */
const lastTime = (accountId: string, { before }: Page): Prisma.Sql | null =>
  before === undefined
    ? null
    : Prisma.sql`(
        select b.refused_at from refused_requests b where b.request_id = ${before}::uuid and b.account_id = ${accountId}::uuid
      )`;

/**
 * The rows of a page, and one more, from the one index that begins with these keys and goes on with `refused_at` and `request_id`.
 *
 * Its keys are a range that begins and ends with them, and stand in the order, although they are the same in all rows. Were they said to
 * be equal, other indexes would have the same order, and where a few applications have nearly all rows, PostgreSQL expects the next rows
 * of any of them near the end of those: it would look for the rows of one that has few among millions of others'.
 */
function newest(
  keys: readonly Key[],
  last: Prisma.Sql | null,
  { limit, before }: Page,
  hours?: number,
): Prisma.Sql {
  const columns = Prisma.join(keys.map(({ column }) => column));
  const values = Prisma.join(keys.map(({ value }) => value));
  const from =
    hours === undefined
      ? Prisma.sql`(${columns}) >= (${values})`
      : Prisma.sql`(${columns}, r.refused_at) > (${values}, statement_timestamp() - make_interval(hours => ${hours}::integer))`;
  const to =
    last === null
      ? Prisma.sql`(${columns}) <= (${values})`
      : Prisma.sql`(${columns}, r.refused_at, r.request_id) < (${values}, ${last}, ${before}::uuid)`;
  const order = Prisma.join(keys.map(({ column }) => Prisma.sql`${column} desc`));
  return Prisma.sql`
    select r.* from refused_requests r where ${from} and ${to}
    order by ${order}, r.refused_at desc, r.request_id desc limit ${limit + 1}::integer`;
}

async function readPage(database: Database, found: Prisma.Sql, { limit }: Page): Promise<RefusedRequestPage> {
  const rows = await database.sql.query<ListedRefusedRequest[]>`
    select r.request_id as "requestId", r.refused_at as "refusedAt", r.route, r.status::integer, r.code, r.detail,
      coalesce(r.fields, '{}') as fields, k.hint as "keyHint", r.application_id as "applicationId", a.name as "applicationName"
    from (${found}) r join applications a on a.id = r.application_id left join api_keys k on k.id = r.key_id
    order by r.refused_at desc, r.request_id desc limit ${limit + 1}::integer`;
  const requests = rows.slice(0, limit);
  return { requests, next: rows.length > limit ? (requests.at(-1)?.requestId ?? null) : null };
}

/** How often an account's requests were refused with one code. */
export interface RefusedRequestSum {
  code: string;
  /** All of them. */
  count: number;
  /** How many of them may be listed: of a flood only the first of each minute are kept. */
  kept: number;
  lastRefusedAt: Date;
}

/** An account's refusals by code, the latest first. Whole minutes: some seconds before the last `hours` may count. */
export function sumRefusedRequests(
  database: Database,
  accountId: string,
  { applicationId, hours }: Pick<RefusedRequestFilter, 'applicationId' | 'hours'>,
): Promise<RefusedRequestSum[]> {
  const key: Key =
    applicationId === undefined
      ? { column: Prisma.sql`c.account_id`, value: Prisma.sql`${accountId}::uuid` }
      : { column: Prisma.sql`c.application_id`, value: applicationOf(accountId, applicationId) };
  // A range as those of the lists: a time by itself would be looked up among the minutes of all accounts.
  const from =
    hours === undefined
      ? Prisma.sql`${key.column} >= ${key.value}`
      : Prisma.sql`(${key.column}, c.minute) > (${key.value}, statement_timestamp() - make_interval(hours => ${hours}::integer, mins => 1))`;
  return database.sql.query<RefusedRequestSum[]>`
    select c.code, sum(c.count)::float8 as count, sum(least(c.count, ${REFUSED_REQUESTS_PER_MINUTE}::bigint))::float8 as kept,
      max(c.last_refused_at) as "lastRefusedAt"
    from refused_request_counts c
    where ${from} and ${key.column} <= ${key.value}
    group by c.code order by max(c.last_refused_at) desc, c.code`;
}

/** The id of an application, or null if it is another account's. */
const applicationOf = (accountId: string, applicationId: string): Prisma.Sql =>
  Prisma.sql`(select a.id from applications a where a.id = ${applicationId}::uuid and a.account_id = ${accountId}::uuid)`;

/** The applications of an account of which requests were refused, by name. */
export function listRefusedApplications(
  database: Database,
  accountId: string,
): Promise<{ id: string; name: string }[]> {
  return database.sql.query<{ id: string; name: string }[]>`
    select a.id, a.name from applications a
    cross join lateral (
      -- A range in order, as those of the lists: another application's counts are not looked through.
      select from refused_request_counts c
      where c.application_id >= a.id and c.application_id <= a.id order by c.application_id, c.minute limit 1
    ) c
    where a.account_id = ${accountId}::uuid
    order by a.name, a.id`;
}
