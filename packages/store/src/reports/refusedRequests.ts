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

/** Which refused requests; a field that is left out restricts nothing. */
export interface RefusedRequestFilter {
  applicationId?: string;
  code?: string;
  /** Those of the last hours. */
  hours?: number;
  /** Those with this id or with one of these hashes of their idempotency key. */
  search?: { requestId?: string; idempotencyKeyHashes: readonly Uint8Array[] };
}

/**
 * An account's refused requests, newest first. `before` is the `next` of the page before: the id of its last request. When that one was
 * deleted in between, so were all that are older, and the list ends.
 */
export async function listRefusedRequests(
  database: Database,
  accountId: string,
  { applicationId, code, hours, search }: RefusedRequestFilter,
  { limit, before }: Page,
): Promise<{ requests: ListedRefusedRequest[]; next: string | null }> {
  const after =
    before === undefined
      ? Prisma.empty
      : Prisma.sql`and (r.refused_at, r.request_id) < (
          select b.refused_at, b.request_id from refused_requests b
          where b.request_id = ${before}::uuid and b.account_id = ${accountId}::uuid
        )`;
  const rows = await database.sql.query<ListedRefusedRequest[]>`
    select r.request_id as "requestId", r.refused_at as "refusedAt", r.route, r.status::integer, r.code, r.detail,
      coalesce(r.fields, '{}') as fields, k.hint as "keyHint", r.application_id as "applicationId", a.name as "applicationName"
    from refused_requests r join applications a on a.id = r.application_id left join api_keys k on k.id = r.key_id
    where r.account_id = ${accountId}::uuid
      ${applicationId === undefined ? Prisma.empty : Prisma.sql`and r.application_id = ${applicationId}::uuid`}
      ${code === undefined ? Prisma.empty : Prisma.sql`and r.code = ${code}`}
      ${search === undefined ? Prisma.empty : searched(search)}
      ${hours === undefined ? Prisma.empty : Prisma.sql`and r.refused_at > statement_timestamp() - make_interval(hours => ${hours}::integer)`}
      ${after}
    order by r.refused_at desc, r.request_id desc limit ${limit + 1}::integer`;
  const requests = rows.slice(0, limit);
  return { requests, next: rows.length > limit ? (requests.at(-1)?.requestId ?? null) : null };
}

function searched({
  requestId,
  idempotencyKeyHashes,
}: NonNullable<RefusedRequestFilter['search']>): Prisma.Sql {
  const byKey = Prisma.sql`r.idempotency_key_hash = any(${idempotencyKeyHashes.map(bytesText)}::bytea[])`;
  return requestId === undefined
    ? Prisma.sql`and ${byKey}`
    : Prisma.sql`and (r.request_id = ${requestId}::uuid or ${byKey})`;
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
  return database.sql.query<RefusedRequestSum[]>`
    select c.code, sum(c.count)::float8 as count, sum(least(c.count, ${REFUSED_REQUESTS_PER_MINUTE}::bigint))::float8 as kept,
      max(c.last_refused_at) as "lastRefusedAt"
    from refused_request_counts c
    where c.account_id = ${accountId}::uuid
      ${applicationId === undefined ? Prisma.empty : Prisma.sql`and c.application_id = ${applicationId}::uuid`}
      ${hours === undefined ? Prisma.empty : Prisma.sql`and c.minute > statement_timestamp() - make_interval(hours => ${hours}::integer, mins => 1)`}
    group by c.code order by max(c.last_refused_at) desc, c.code`;
}

/** The applications of an account of which requests were refused, by name. */
export function listRefusedApplications(
  database: Database,
  accountId: string,
): Promise<{ id: string; name: string }[]> {
  return database.sql.query<{ id: string; name: string }[]>`
    select a.id, a.name from applications a
    where a.account_id = ${accountId}::uuid and exists (
      select from refused_request_counts c where c.account_id = a.account_id and c.application_id = a.id
    )
    order by a.name, a.id`;
}
