import type { Connection } from '../client/database.js';
import { bytesText } from '../client/sql.js';
import type { Caller } from './apiKeys.js';

/** Of each application and code, so many requests of a minute are kept; the others are counted. */
export const REFUSED_REQUESTS_PER_MINUTE = 10;
const REFUSED_REQUEST_DAYS = 14;

/** A request of a known key that was refused. Nothing of it is what the client sent. */
export interface RefusedRequest {
  requestId: string;
  keyId: string;
  /** Milliseconds since it was refused: the database's clock says when that was. */
  ageMs: number;
  /** Method and pattern. */
  route: string;
  status: number;
  detail: string | null;
  fields: readonly string[];
  /** SHA-256 of the bytes of the header; null without one. */
  idempotencyKeyHash: Uint8Array | null;
}

/** Refusals of one application with one code, within about a minute. */
export interface RefusedRequestGroup extends Pick<Caller, 'accountId' | 'applicationId'> {
  code: string;
  /** All of them, kept or not. */
  count: number;
  /** Of the last one. */
  ageMs: number;
  /** Those that may be kept, oldest first. */
  requests: readonly RefusedRequest[];
}

/**
 * Counts refusals, and keeps the first `REFUSED_REQUESTS_PER_MINUTE` requests of each application, code and minute, whichever
 * processes they come from.
 *
 * @returns how many requests were kept
 */
export async function storeRefusedRequests(
  database: Connection,
  groups: readonly RefusedRequestGroup[],
): Promise<number> {
  if (groups.length === 0) return 0;
  const records = groups.map(({ requests, ...group }) => ({
    ...group,
    requests: requests.map(({ fields, idempotencyKeyHash, ...request }) => ({
      ...request,
      fields: fields.length === 0 ? null : fields,
      idempotencyKeyHash: idempotencyKeyHash && bytesText(idempotencyKeyHash),
    })),
  }));
  return database.sql.execute`
    with groups as materialized (
      select g."accountId" as account_id, date_bin('1 minute', t.last_refused_at, 'epoch') as minute, g."applicationId" as application_id,
        g.code, g.count, t.last_refused_at, g.requests
      from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
        as g ("accountId" uuid, "applicationId" uuid, code text, count bigint, "ageMs" double precision, requests jsonb)
      cross join lateral (
        select (statement_timestamp() - make_interval(secs => g."ageMs" / 1000))::timestamptz(3) as last_refused_at
      ) t
    ), sums as materialized (
      select account_id, minute, application_id, code, sum(count)::bigint as count, max(last_refused_at) as last_refused_at
      from groups group by 1, 2, 3, 4
    ), counted as (
      -- In one order for everybody: processes that add at the same time would wait for each other without end.
      insert into refused_request_counts as c (account_id, minute, application_id, code, count, last_refused_at)
      select * from sums order by account_id, minute, application_id, code
      on conflict (account_id, minute, application_id, code) do update
        set count = c.count + excluded.count, last_refused_at = greatest(c.last_refused_at, excluded.last_refused_at)
      returning account_id, minute, application_id, code, count
    )
    insert into refused_requests (
      request_id, account_id, application_id, key_id, refused_at, route, status, code, detail, fields, idempotency_key_hash
    )
    select r."requestId", r.account_id, r.application_id, r."keyId", statement_timestamp() - make_interval(secs => r."ageMs" / 1000),
      r.route, r.status, r.code, r.detail, r.fields, r."idempotencyKeyHash"
    from (
      select g.account_id, g.minute, g.application_id, g.code, r.*, row_number() over (
        partition by g.account_id, g.minute, g.application_id, g.code order by r."ageMs" desc
      ) as position
      from groups g cross join lateral jsonb_to_recordset(g.requests) as r (
        "requestId" uuid, "keyId" uuid, "ageMs" double precision, route text, status smallint, detail text, fields text[],
        "idempotencyKeyHash" bytea
      )
    ) r
    join sums s using (account_id, minute, application_id, code)
    join counted c using (account_id, minute, application_id, code)
    -- As many as the refusals before these leave room for.
    where r.position <= ${REFUSED_REQUESTS_PER_MINUTE}::bigint - (c.count - s.count)
    on conflict (request_id) do nothing`;
}

/** Deletes refused requests, and counts of minutes, that are older than `REFUSED_REQUEST_DAYS`, up to `limit` of each. @returns the larger number */
export async function deleteOldRefusedRequests(database: Connection, limit: number): Promise<number> {
  const requests = await database.sql.execute`
    delete from refused_requests where request_id in (
      select request_id from refused_requests
      where refused_at < statement_timestamp() - make_interval(days => ${REFUSED_REQUEST_DAYS}::integer)
      order by refused_at limit ${limit}
    )`;
  const counts = await database.sql.execute`
    delete from refused_request_counts where (account_id, minute, application_id, code) in (
      select account_id, minute, application_id, code from refused_request_counts
      where minute < statement_timestamp() - make_interval(days => ${REFUSED_REQUEST_DAYS}::integer)
      order by minute limit ${limit}
    )`;
  return Math.max(requests, counts);
}
