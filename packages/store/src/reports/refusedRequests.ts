import type { Caller } from '../accounts/apiKeys.js';
import type { Connection, Database } from '../client/database.js';
import { bytesText } from '../client/sql.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Page } from './pages.js';

export const REFUSED_REQUEST_DAYS = 14;

/** A refused request of a known key. It contains nothing that the client sent. */
export interface RefusedRequest extends Pick<Caller, 'accountId' | 'applicationId' | 'keyId'> {
  requestId: string;
  /** By the clock of the API process. */
  refusedAt: Date;
  /** Method and pattern, such as `POST /v1/send/:id/verify`. */
  route: string;
  status: number;
  code: string;
  /** The sentence in the response. */
  detail: string;
  fields: readonly string[];
  /** SHA-256 of the header's bytes; null without the header. */
  idempotencyKeyHash: Uint8Array | null;
  /** How many refusals it stands for: itself and later ones for the same reason. */
  count: number;
}

/** Stores refused requests. */
export async function storeRefusedRequests(
  database: Connection,
  requests: readonly RefusedRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  const records = requests.map(({ idempotencyKeyHash, ...request }) => ({
    ...request,
    idempotencyKeyHash: idempotencyKeyHash && bytesText(idempotencyKeyHash),
  }));
  await database.sql.execute`
    insert into refused_requests (
      request_id, account_id, application_id, key_id, refused_at, route, status, code, detail, fields, idempotency_key_hash, count
    )
    select r."requestId", r."accountId", r."applicationId", r."keyId", r."refusedAt", r.route, r.status, r.code, r.detail, r.fields,
      r."idempotencyKeyHash", r.count
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r (
      "requestId" uuid, "accountId" uuid, "applicationId" uuid, "keyId" uuid, "refusedAt" timestamptz, route text, status smallint,
      code text, detail text, fields text[], "idempotencyKeyHash" bytea, count integer
    )`;
}

/** Refused requests of this process that are not written yet. A killed process loses them. */
export interface RefusedRequestCounter {
  /** Keeps the first refusal of an application on a route for a reason, and counts further ones in it. */
  count(request: Omit<RefusedRequest, 'count'>): void;
  /** Writes the requests since the last flush. @throws the database's error; these requests are lost */
  flush(database: Connection): Promise<void>;
}

export function createRefusedRequestCounter(): RefusedRequestCounter {
  const refusals = new Map<string, RefusedRequest>();
  return {
    count(request) {
      const { applicationId, route, code, detail, fields } = request;
      const name = JSON.stringify([applicationId, route, code, detail, fields]);
      const first = refusals.get(name) ?? { ...request, count: 0 };
      refusals.set(name, { ...first, count: first.count + 1 });
    },
    async flush(database) {
      const requests = [...refusals.values()];
      refusals.clear();
      await storeRefusedRequests(database, requests);
    },
  };
}

/** Deletes up to `limit` refused requests that are older than `REFUSED_REQUEST_DAYS`. @returns how many */
export function deleteOldRefusedRequests(database: Connection, limit: number): Promise<number> {
  return database.sql.execute`
    delete from refused_requests where request_id in (
      select request_id from refused_requests
      where refused_at < statement_timestamp() - make_interval(days => ${REFUSED_REQUEST_DAYS}::integer)
      order by refused_at limit ${limit}
    )`;
}

export interface ListedRefusedRequest extends Omit<
  RefusedRequest,
  'accountId' | 'keyId' | 'idempotencyKeyHash'
> {
  /** Null for a call from the page Try it: its key was deleted afterwards. */
  keyHint: string | null;
  applicationName: string;
}

/** The values by which refused requests are found: any of them may match. */
export interface RefusedRequestSearch {
  requestId: string | null;
  idempotencyKeyHashes: readonly Uint8Array[];
}

/** Which refused requests of an account to list; an omitted field restricts nothing. */
export interface RefusedRequestFilter {
  applicationId?: string | undefined;
  /** Only requests of this many last hours. */
  hours?: number | undefined;
  code?: string | undefined;
  detail?: string | undefined;
  fields?: readonly string[] | undefined;
  search?: RefusedRequestSearch | undefined;
}

export interface RefusedRequestPage {
  requests: ListedRefusedRequest[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/**
 * Returns an account's refused requests, newest first. `before` is the `next` of the previous page. If that request was deleted, the list
 * ends.
 */
export async function listRefusedRequests(
  database: Database,
  accountId: string,
  filter: RefusedRequestFilter,
  { limit, before }: Page,
): Promise<RefusedRequestPage> {
  const after =
    before === undefined
      ? Prisma.empty
      : Prisma.sql`and (r.refused_at, r.request_id) < (
          select b.refused_at, b.request_id from refused_requests b
          where b.request_id = ${before}::uuid and b.account_id = ${accountId}::uuid
        )`;
  const rows = await database.sql.query<ListedRefusedRequest[]>`
    select r.request_id as "requestId", r.refused_at as "refusedAt", r.route, r.status::integer, r.code, r.detail, r.fields, r.count,
      k.hint as "keyHint", r.application_id as "applicationId", a.name as "applicationName"
    from (
      select r.* from refused_requests r where ${matches(accountId, filter)} ${after}
      order by r.refused_at desc, r.request_id desc limit ${limit + 1}::integer
    ) r
    join applications a on a.id = r.application_id left join api_keys k on k.id = r.key_id
    order by r.refused_at desc, r.request_id desc`;
  const requests = rows.slice(0, limit);
  return { requests, next: rows.length > limit ? (requests.at(-1)?.requestId ?? null) : null };
}

/** A refusal by the API, with how often it occurred. */
export interface RefusalReason extends Pick<ListedRefusedRequest, 'status' | 'code' | 'detail' | 'fields'> {
  count: number;
  lastRefusedAt: Date;
}

/** Returns why an account's requests were refused, latest reason first. Every refusal is counted, listed or not. */
export function countRefusedRequests(
  database: Database,
  accountId: string,
  filter: Pick<RefusedRequestFilter, 'applicationId' | 'hours'>,
): Promise<RefusalReason[]> {
  return database.sql.query<RefusalReason[]>`
    select r.status::integer, r.code, r.detail, r.fields, sum(r.count)::float8 as count, max(r.refused_at) as "lastRefusedAt"
    from refused_requests r where ${matches(accountId, filter)}
    group by r.status, r.code, r.detail, r.fields order by max(r.refused_at) desc, r.code, r.detail, r.fields`;
}

/** Returns SQL for an account's requests that match a filter. */
function matches(
  accountId: string,
  { applicationId, hours, code, detail, fields, search }: RefusedRequestFilter,
): Prisma.Sql {
  const conditions = [Prisma.sql`r.account_id = ${accountId}::uuid`];
  if (hours !== undefined)
    conditions.push(
      Prisma.sql`r.refused_at > statement_timestamp() - make_interval(hours => ${hours}::integer)`,
    );
  if (applicationId !== undefined) conditions.push(Prisma.sql`r.application_id = ${applicationId}::uuid`);
  if (code !== undefined) conditions.push(Prisma.sql`r.code = ${code}`);
  if (detail !== undefined) conditions.push(Prisma.sql`r.detail = ${detail}`);
  if (fields !== undefined) conditions.push(Prisma.sql`r.fields = ${fields}::text[]`);
  if (search !== undefined) {
    const hashes = [...search.idempotencyKeyHashes];
    conditions.push(
      Prisma.sql`(r.request_id = ${search.requestId}::uuid or r.idempotency_key_hash = any(${hashes}::bytea[]))`,
    );
  }
  return Prisma.join(conditions, ' and ');
}
