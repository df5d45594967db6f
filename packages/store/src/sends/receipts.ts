import {
  NO_COUNTRY,
  type AttemptName,
  type DeliveryFacts,
  type Locale,
  type Pricing,
  type Receipt,
  type Send,
} from '@onecode/domain';
import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';

/** Whom the provider charges for messages by senders of no account: the `payer` in `message_costs`. */
export const OPERATOR = '00000000-0000-0000-0000-000000000000';

/** Stores receipts in one statement, for the worker to apply. */
export async function storeReceipts(database: Database, receipts: readonly Receipt[]): Promise<void> {
  if (receipts.length === 0) return;
  const records = receipts.map((receipt) => ({
    send_id: receipt.attempt?.sendId,
    attempt: receipt.attempt?.number,
    message_id: receipt.messageId,
    status: receipt.status,
    occurred_at: receipt.occurredAt,
    failure: receipt.failure,
    pricing: receipt.pricing,
    identity_hash: receipt.identityHash,
  }));
  await database.sql.execute`
    insert into receipts (send_id, attempt, message_id, status, occurred_at, failure, pricing, identity_hash, due_at)
    -- Rounded, the time would be in the future half of the time.
    select r.*, date_trunc('milliseconds', now()) from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r (
      send_id uuid, attempt smallint, message_id text, status text, occurred_at timestamptz, failure jsonb, pricing jsonb,
      identity_hash text
    )`;
}

/** Receipts of one message that were applied together. */
export interface AppliedReceipts {
  attempt: AttemptName;
  senderId: string;
  /** When the attempt began. */
  startedAt: Date;
  /** What they report, in the order in which they came. */
  statuses: readonly Receipt['status'][];
  /** The send before and after. */
  before: DeliveryFacts;
  after: DeliveryFacts;
  locale: Locale;
  requestId: string;
  traceparent: string | null;
}

interface AppliedRow
  extends
    Omit<AppliedReceipts, 'attempt' | 'before' | 'after'>,
    Pick<Send, 'accountId' | 'verification' | 'country' | 'createdAt'>,
    Pick<Send, 'status' | 'sentAt' | 'deliveredAt' | 'readAt'> {
  id: string;
  attempt: number;
  /** The sender of the latest attempt. */
  lastSenderId: string | null;
  statusBefore: Send['status'];
  sentBefore: Date | null;
  deliveredBefore: Date | null;
  readBefore: Date | null;
}

/** Receipts that are stored at the same time become visible in another order than that of their ids, but no further apart. */
const OVERTAKEN_MAX = 1_000n;
/** The id after which a client looks for new receipts: an index is walked over rows that were deleted lately. */
const positionOf = oncePerClient((_database: Database) => ({ after: 0n }));

/**
 * Applies receipts that are due, oldest first, and deletes them: those that report how far messages have come that we know as accepted.
 * All of one send make one change, as `applyReceipt` would make it of them in the order of the states; the status only moves forward, so
 * that repeats are harmless. A delivered message's price is counted once, with its send. Several callers get different ones.
 *
 * @param isSweep whether to look also where this client has read before
 * @returns what was applied, also where it says nothing new, and the ids of the due receipts that `applyReceipt` has to judge
 */
export async function applyReceipts(
  database: Database,
  limit: number,
  isSweep: boolean,
): Promise<{ applied: AppliedReceipts[]; others: bigint[] }> {
  const position = positionOf(database);
  const rows = await database.sql.query<(AppliedRow & { last: bigint; others: string[] | null })[]>`
    with due as materialized (
      select * from receipts where id > ${isSweep ? 0n : position.after} and due_at <= statement_timestamp()
      order by id limit ${limit} for update skip locked
    ), folded as materialized (
      select d.send_id, max(d.attempt) as attempt, array_agg(d.id) as receipt_ids, array_agg(d.status order by d.id) as statuses,
        max(a.sender_id::text)::uuid as attempt_sender_id, max(a.started_at) as started_at,
        max(case d.status when 'sent' then 1 when 'delivered' then 2 else 3 end) as rank,
        min(d.occurred_at) filter (where d.status = 'sent') as sent, min(d.occurred_at) filter (where d.status = 'delivered') as delivered,
        min(d.occurred_at) filter (where d.status = 'read') as read, min(d.occurred_at) filter (where d.status <> 'sent') as arrived,
        (array_agg(d.pricing) filter (where d.pricing is not null))[1] as pricing
      from due d cross join lateral (
        select sender_id, started_at from attempts
        where send_id = d.send_id and number = d.attempt and outcome = 'accepted' and coalesce(message_id = d.message_id, true) limit 1
      ) a
      where d.status <> 'failed' and d.identity_hash is null
      group by d.send_id
    ), locked as materialized (
      -- In the order of the ids, as everybody locks sends. Times have milliseconds.
      select f.*, s.*, array_position(array['sent', 'delivered', 'read'], s.status) as rank_before,
        date_trunc('milliseconds', clock_timestamp()) as now
      from (select * from folded order by send_id) f cross join lateral (
        select id, account_id, status, verification, country, sender_id, locale, charged_from, created_at, sent_at, delivered_at, read_at, request_id, traceparent,
          pricing is not null as is_priced
        from sends where id = f.send_id and status in ('sent', 'delivered', 'read') and lost_at is null for no key update
      ) s
    ), timed as materialized (
      select l.*, greatest(l.rank, l.rank_before) as rank_after, t.*, d.*, r.*, case
          when not l.is_priced and greatest(l.rank, l.rank_before) > 1 then l.pricing
        end as price
      from locked l
      cross join lateral (
        select coalesce(l.sent_at, greatest(l.created_at, least(l.sent, coalesce(l.delivered_at, l.read_at, l.now)))) as sent_after
      ) t cross join lateral (
        select coalesce(l.delivered_at, case when l.delivered is not null then
          greatest(t.sent_after, l.created_at, least(l.delivered, coalesce(l.read_at, l.now)))
        end) as delivered_after
      ) d cross join lateral (
        select coalesce(l.read_at, case when l.read is not null then
          greatest(coalesce(d.delivered_after, t.sent_after, l.created_at), least(l.read, l.now))
        end) as read_after
      ) r
    ), written as (
      update sends s set status = (array['sent', 'delivered', 'read'])[t.rank_after], sent_at = t.sent_after,
        delivered_at = t.delivered_after, read_at = t.read_after, sealed_code = case when t.rank_after = 1 then s.sealed_code end,
        pricing = coalesce(s.pricing, t.price), version = s.version + 1
      from timed t
      where s.id = any (array(select id from timed)) and s.id = t.id and (
        t.rank > t.rank_before or t.price is not null or t.sent_at is null
        or (t.delivered_after, t.read_after) is distinct from (t.delivered_at, t.read_at)
      )
    ), deleted as (
      delete from receipts where id = any (array(select unnest(receipt_ids) from locked))
    ), priced as (
      insert into message_costs as m (day, country, category, type, billable, pricing_model, payer, messages, free_sends, credits)
      select (coalesce(arrived, now) at time zone 'UTC')::date, coalesce(country, ${NO_COUNTRY}), price ->> 'category', price ->> 'type',
        (price ->> 'billable')::boolean, price ->> 'model', case when s.account_id = t.account_id then t.account_id else ${OPERATOR}::uuid end, count(*), count(*) filter (where charged_from = 'free_quota'),
        count(*) filter (where charged_from = 'credit')
      from timed t left join senders s on s.id = t.attempt_sender_id where price is not null
      -- In one order for everybody: simultaneous callers would wait for each other without end.
      group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
      on conflict (day, country, category, type, billable, pricing_model, payer) do update set
        messages = m.messages + excluded.messages, free_sends = m.free_sends + excluded.free_sends, credits = m.credits + excluded.credits
    ), ends as materialized (
      select max(id) as last, array(
        select id::text from due except select unnest(receipt_ids)::text from locked
      ) as others from due
    )
    select ends.*, t.id, t.attempt, t.attempt_sender_id as "senderId", t.started_at as "startedAt", t.statuses,
      (array['sent', 'delivered', 'read'])[t.rank_after] as status, t.sent_after as "sentAt", t.delivered_after as "deliveredAt",
      t.read_after as "readAt", t.status as "statusBefore", t.sent_at as "sentBefore", t.delivered_at as "deliveredBefore",
      t.read_at as "readBefore", t.account_id as "accountId", t.verification, t.country, t.sender_id as "lastSenderId",
      t.created_at as "createdAt", t.locale, t.request_id as "requestId", t.traceparent
    from ends left join timed t on true`;
  const [first] = rows;
  if (first?.last != null && first.last - OVERTAKEN_MAX > position.after)
    position.after = first.last - OVERTAKEN_MAX;
  const applied = rows.flatMap((row) => (row.id === null ? [] : [appliedOf(row)]));
  for (const { before, after } of applied) database.onDelivery(before, after);
  return { applied, others: (first?.others ?? []).map(BigInt) };
}

function appliedOf(row: AppliedRow): AppliedReceipts {
  const { accountId, verification, country, lastSenderId: senderId, createdAt } = row;
  const { status, sentAt, deliveredAt, readAt } = row;
  const unchanged = { accountId, mode: 'live', verification, country, senderId, createdAt } as const;
  const after = { ...unchanged, failureReason: null, lostAt: null, status, sentAt, deliveredAt, readAt };
  return {
    attempt: { sendId: row.id, number: row.attempt },
    senderId: row.senderId,
    startedAt: row.startedAt,
    statuses: row.statuses,
    before: {
      ...after,
      status: row.statusBefore,
      sentAt: row.sentBefore,
      deliveredAt: row.deliveredBefore,
      readAt: row.readBefore,
    },
    after,
    locale: row.locale,
    requestId: row.requestId,
    traceparent: row.traceparent,
  };
}

/** A stored receipt. */
export interface StoredReceipt {
  id: bigint;
  receipt: Receipt;
  /** How often it was postponed. */
  tries: number;
}

/** The stored receipts with these ids that are still there, oldest first. */
export async function readReceipts(database: Database, ids: readonly bigint[]): Promise<StoredReceipt[]> {
  if (ids.length === 0) return [];
  const rows = await database.sql.query<ReceiptRow[]>`
    select id, send_id as "sendId", attempt as number, message_id as "messageId", status, occurred_at as "occurredAt", failure, pricing,
      identity_hash as "identityHash", tries
    from receipts where id = any (${[...ids]}::bigint[]) order by id`;
  return rows.map(({ id, tries, sendId, number, pricing, identityHash, ...receipt }) => ({
    id,
    tries,
    receipt: {
      ...receipt,
      attempt: sendId === null || number === null ? null : { sendId, number },
      ...(pricing !== null && { pricing }),
      ...(identityHash !== null && { identityHash }),
    },
  }));
}

interface ReceiptRow extends Pick<Receipt, 'messageId' | 'status' | 'occurredAt' | 'failure'> {
  id: bigint;
  tries: number;
  sendId: string | null;
  number: number | null;
  pricing: Pricing | null;
  identityHash: string | null;
}

/**
 * Notes that a receipt's attempt and identity are dealt with, so that `applyReceipts` does the rest.
 *
 * @param attempt that it reports on, whether or not it named it
 */
export async function releaseReceipt(database: Database, id: bigint, attempt: AttemptName): Promise<void> {
  await database.sql.execute`
    update receipts set send_id = ${attempt.sendId}::uuid, attempt = ${attempt.number}::smallint, identity_hash = null where id = ${id}`;
}

/** Deletes a receipt that changes nothing any more. */
export async function deleteReceipt(database: Database, id: bigint): Promise<void> {
  await database.sql.execute`delete from receipts where id = ${id}`;
}

/** Postpones a receipt that cannot be judged yet, or that the database refuses: a second, then longer, a minute at most. */
export async function postponeReceipt(database: Database, id: bigint): Promise<void> {
  await database.sql.execute`
    update receipts set due_at = clock_timestamp() + make_interval(secs => least(60, 2 ^ tries)), tries = least(tries + 1, 1000)
    where id = ${id}`;
}

/** Sets a receipt aside that the database refuses: it is due never again. */
export async function setReceiptAside(database: Database, id: bigint): Promise<void> {
  await database.sql.execute`update receipts set due_at = 'infinity' where id = ${id}`;
}
