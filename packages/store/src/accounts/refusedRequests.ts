import type { Connection } from '../client/database.js';
import { bytesText } from '../client/sql.js';
import type { Caller } from './apiKeys.js';

export const REFUSED_REQUEST_DAYS = 14;

/** A refused request of a known key. It contains nothing that the client sent. */
export interface RefusedRequest extends Pick<Caller, 'accountId' | 'applicationId' | 'keyId'> {
  requestId: string;
  /** Milliseconds since it was refused; the time itself is computed with the database's clock. */
  ageMs: number;
  /** Method and pattern. */
  route: string;
  status: number;
  code: string;
  /** The sentence in the response. */
  detail: string;
  fields: readonly string[];
  /** SHA-256 of the header's bytes; null without the header. */
  idempotencyKeyHash: Uint8Array | null;
  /** How many refusals it counts for: itself and later ones for the same reason. */
  count: number;
}

/** Stores refused requests. Updates the count of one that is stored already, so that a batch can be repeated. */
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
    select r."requestId", r."accountId", r."applicationId", r."keyId", statement_timestamp() - make_interval(secs => r."ageMs" / 1000),
      r.route, r.status, r.code, r.detail, r.fields, r."idempotencyKeyHash", r.count
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r (
      "requestId" uuid, "accountId" uuid, "applicationId" uuid, "keyId" uuid, "ageMs" double precision, route text, status smallint,
      code text, detail text, fields text[], "idempotencyKeyHash" bytea, count integer
    )
    on conflict (request_id) do update set count = excluded.count`;
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
