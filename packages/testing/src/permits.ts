import type { Locale, Send } from '@onecode/domain';
import { newId, type Database } from '@onecode/store/client';
import { buildCaller, recipientKeysOf } from './builders.js';

/** The message that a permit is for. */
export type PermitRequest = Pick<Send, 'recipient' | 'country'> & {
  /** An account with a live application; any such account by default. */
  accountId?: string;
  /** `pt-BR` by default. */
  locale?: Locale;
};

/** A permit that was taken. */
export interface TakenPermit {
  senderId: string;
  /** Milliseconds from the database's current time until the message may be sent. */
  waitMs: number;
  /** That time, by the database's clock. */
  atMs: number;
}

/**
 * Takes a permit for a new send of each request, in order, through `take_permits`. The result is null if the request is held, or if no
 * eligible sender has a permit within the horizon.
 */
export async function takePermits(
  database: Database,
  requests: readonly PermitRequest[],
  horizonMs: number,
): Promise<(TakenPermit | null)[]> {
  const anyCaller = await buildCaller(database, 'live');
  const ids = requests.map(() => newId());
  return database.transaction(async ({ sql }) => {
    await sql.execute`
      insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key, country,
        locale, charged_from, code_hash, encrypted_code, due_at, created_at, expires_at)
      select r.id, r.id, a.account_id, a.id, 'live', 0, r.recipient, r.recipient_key, r.country, r.locale, 'credit',
        decode(repeat('01', 33), 'hex'), 'x', 'infinity', now(), now() + interval '10 minutes'
      from unnest(
        ${ids}::uuid[], ${requests.map(({ accountId }) => accountId ?? anyCaller.accountId)}::uuid[],
        ${requests.map(({ recipient }) => recipient)}::text[], ${requests.map(({ recipient }) => recipientKeysOf(recipient)[0])}::text[],
        ${requests.map(({ country }) => country)}::text[],
        ${requests.map(({ locale = 'pt-BR' }) => locale)}::text[]
      ) as r (id, account_id, recipient, recipient_key, country, locale) join applications a on a.account_id = r.account_id and a.mode = 'live'`;
    const rows = await sql.query<{ id: string; sender_id: string; wait_ms: number; at_ms: number }[]>`
      select t.id, t.sender_id, ceil(extract(epoch from t.permit_at - n.now) * 1000)::integer as wait_ms,
        extract(epoch from t.permit_at)::float8 * 1000 as at_ms
      from (select pg_advisory_xact_lock(hashtextextended('permits', 0)), clock_timestamp() as now offset 0) n
      cross join lateral take_permits(${ids}::uuid[], n.now, n.now + ${horizonMs} * interval '1 millisecond') t`;
    const taken = new Map(
      rows.map((row) => [row.id, { senderId: row.sender_id, waitMs: row.wait_ms, atMs: row.at_ms }]),
    );
    return ids.map((id) => taken.get(id) ?? null);
  });
}
