import type { DeliveryState, Locale, StoredVerification } from '@onecode/domain';
import { v7 as uuidv7 } from 'uuid';
import { recipientKeysOf, type TestCaller, type TestDatabase } from '@onecode/testing';

/** A send that was inserted some time ago. */
export interface PastSend {
  caller: TestCaller;
  at: Date;
  recipient: string;
  locale: Locale;
  status: DeliveryState;
  verification: StoredVerification;
  /** When it was delivered (if delivered or read), after its creation. */
  deliveryMs: number;
}

const VALIDITY_MS = 600_000;

export const hasExpired = ({ at }: PastSend): boolean => at.getTime() + VALIDITY_MS <= Date.now();

/** Inserts sends with the next numbers of their accounts and applications, as if created in this order. @returns their ids */
export async function insertSends(
  store: Pick<TestDatabase, 'sql'>,
  sends: readonly PastSend[],
): Promise<string[]> {
  const rows = sends.map(({ caller, at, deliveryMs, ...send }, place) => ({
    place,
    account_id: caller.accountId,
    application_id: caller.applicationId,
    mode: caller.mode,
    created_at: at.toISOString(),
    delivery_ms: deliveryMs,
    ...send,
    recipient_key: recipientKeysOf(send.recipient)[0],
    id: uuidv7({ msecs: at.getTime(), seq: place }),
  }));
  await store.sql(
    `with given as (
       select g.*, g.mode = 'live' as is_live, g.status in ('queued', 'sending') as waits,
         g.created_at + make_interval(secs => g.delivery_ms / 1000.0) as delivered,
         row_number() over (partition by g.application_id order by g.place) + p.sends_created as application_number
       from jsonb_to_recordset($1::jsonb) as g (place integer, id uuid, account_id uuid, application_id uuid, mode text,
         created_at timestamptz, recipient text, recipient_key text, locale text, status text, verification text, delivery_ms integer)
       join accounts a on a.id = g.account_id join applications p on p.id = g.application_id
     ), written as (
       insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key, country,
         locale, charged_from,
         code_hash, encrypted_code, status, phase, verification, wrong_guess_times, channel, from_number, sender_id, due_at, sent_at,
         delivered_at, read_at, verified_at, locked_at, failed_at, failure_reason, created_at, expires_at)
       select g.id, gen_random_uuid(), account_id, application_id, mode, application_number, recipient, recipient_key, 'BR', locale,
         case when is_live then 'credit' end, convert_to(repeat('h', 33), 'utf8'), case when is_live and waits then 'encrypted'::bytea end,
         status, case when not waits then 'done' when status = 'queued' then 'ready' else 'backing_off' end, verification,
         case when verification = 'locked' then array_fill(g.created_at, array[5]) end,
         case when status <> 'queued' then case when is_live then 'whatsapp' else 'sandbox' end end,
         case when is_live and status <> 'queued' then s.number end, case when is_live and status <> 'queued' then s.id end,
         case when waits then g.created_at end,
         case when status in ('sent', 'delivered', 'read') then g.created_at end,
         case when status in ('delivered', 'read') then delivered end, case when status = 'read' then delivered end,
         case when verification = 'verified' then g.created_at end, case when verification = 'locked' then g.created_at end,
         case when status = 'failed' then g.created_at end, case when status = 'failed' then 'rejected_by_provider' end,
         g.created_at, g.created_at + make_interval(secs => ${VALIDITY_MS / 1000})
       from given g, (select id, number from senders limit 1) s
       returning account_id, application_id
     ), counted as (
       update accounts set sends_created = sends_created + n
       from (select account_id, count(*) as n from written group by 1) w where accounts.id = w.account_id
     )
     update applications set sends_created = sends_created + n
     from (select application_id, count(*) as n from written group by 1) w where applications.id = w.application_id`,
    [JSON.stringify(rows)],
  );
  return rows.map(({ id }) => id);
}
