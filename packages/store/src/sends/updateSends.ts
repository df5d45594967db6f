import type { AttemptChange, MessageCost, Send } from '@onecode/domain';
import { Prisma } from '../generated/prisma/client.js';
import { assignments, RECORD_COLUMNS, toSendRecord } from './sendRow.js';

/** A change of a send, written only if its row still has `version`. */
export interface Change {
  before: Send;
  after: Send;
  version: number;
  /** When the change was decided, by the database's clock. */
  at: Date;
  attempts: readonly AttemptChange[];
  /** The price of the message, if this change is the first to report it. */
  cost?: MessageCost | undefined;
}

/** Returns whether a change fails a send. Such a change has its own statement, see `REFUNDED`. */
export const isFailure = ({ before, after }: Change): boolean =>
  before.status !== 'failed' && after.status === 'failed';

const toChangeRecord = ({ before, after, version, at, attempts, cost }: Change): object => ({
  id: before.id,
  version,
  ...toSendRecord(after),
  pricing: cost?.pricing,
  arrived_at: cost?.arrivedAt,
  priced_sender_id: cost?.senderId,
  attempt_records: attempts.map(
    ({ number, senderId, startedAt, outcome, errorCode, messageId, messageStatus, report = null }) => ({
      number,
      sender_id: senderId,
      started_at: startedAt,
      outcome,
      error_code: errorCode,
      message_id: messageId,
      message_status: messageStatus,
      reported_at: report?.at,
      reported_code: report?.errorCode,
      finished_at: at,
    }),
  ),
});

/**
 * Returns the first steps of a statement that writes changes of different sends with their attempts, or one failure with its refund:
 * `changed` returns the sends that still had the version. Every statement locks sends in the order of their ids, so that two statements
 * cannot deadlock.
 */
export function updateSends(changes: readonly Change[]): Prisma.Sql {
  const { lock, lockedIds } = lockSends(changes.length);
  return Prisma.sql`
    changes as materialized (
      select * from json_to_recordset(${JSON.stringify(changes.map(toChangeRecord))}::json) as c (
        id uuid, version integer, ${RECORD_COLUMNS}, pricing jsonb, arrived_at timestamptz, priced_sender_id uuid, attempt_records json
      )
    ), ${lock} changed as (
      update sends s set ${assignments('c')}, pricing = coalesce(s.pricing, c.pricing), version = s.version + 1
      from changes c
      where s.id = any(array(${lockedIds})) and c.id = s.id and c.version = s.version
      returning s.id, s.account_id, s.country, s.charged_from, s.verification, c.pricing, c.arrived_at, c.priced_sender_id, c.attempt_records
    ), ${ATTEMPTED} ${changes.some(isFailure) ? REFUNDED : Prisma.empty}`;
}

/**
 * The step that writes the attempts of `changed`. A response and receipts may report on the same attempt in any order: an acceptance and a
 * reported failure replace what is stored, but a failed response does not replace an earlier receipt.
 */
const ATTEMPTED = Prisma.sql`
  attempted as (
    insert into attempts (
      send_id, number, sender_id, started_at, outcome, error_code, message_id, message_status, reported_at, reported_code, finished_at
    )
    select changed.id, a.*
    from changed, json_to_recordset(changed.attempt_records) as a (
      number smallint, sender_id uuid, started_at timestamptz, outcome text, error_code integer, message_id text, message_status text,
      reported_at timestamptz, reported_code integer, finished_at timestamptz
    )
    on conflict (send_id, number) do update set
      outcome = excluded.outcome, error_code = excluded.error_code, message_id = excluded.message_id,
      -- The call ended when it was accepted, even if its message fails later.
      finished_at = case when attempts.outcome = 'accepted' then attempts.finished_at else excluded.finished_at end,
      message_status = coalesce(excluded.message_status, attempts.message_status),
      reported_at = coalesce(attempts.reported_at, excluded.reported_at),
      reported_code = coalesce(attempts.reported_code, excluded.reported_code)
    where excluded.outcome = 'accepted' or excluded.reported_at is not null
  )`;

/**
 * The steps that refund the unit of a failure in `changed`. The unit is not refunded if the code was verified and a message may have
 * arrived. Each failure has its own statement, because a refund also locks an account, and a batch would lock sends and accounts in no
 * fixed order.
 */
const REFUNDED = Prisma.sql`,
  returned as (
    -- Precedes its ledger entry, so that the entry's id is assigned under the account's lock and ids follow the order of changes.
    update accounts set
      free_quota = free_quota + (changed.charged_from = 'free_quota')::integer,
      credits = credits + (changed.charged_from = 'credit')::integer
    from changed where accounts.id = changed.account_id and changed.charged_from is not null
      and not (changed.verification = 'verified' and may_have_arrived(changed.id))
    returning changed.account_id, changed.id, changed.charged_from
  ), refunded as (
    insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'returned', charged_from, 1 from returned
  )`;

/**
 * Returns the step that locks the sends of the step `changes` that still have the version in the change, with one index probe for each send
 * in the order of the ids, and the query of the locked ids. A single send needs no such step: its update locks it.
 */
export function lockSends(count: number): { lock: Prisma.Sql; lockedIds: Prisma.Sql } {
  return count === 1 ? { lock: Prisma.empty, lockedIds: ONLY_ID } : { lock: LOCKED, lockedIds: LOCKED_IDS };
}

const LOCKED = Prisma.sql`
  locked as materialized (
    select s.id from (select id, version from changes order by id) c
    cross join lateral (select id from sends where id = c.id and version = c.version for no key update) s
  ),`;
const ONLY_ID = Prisma.sql`select id from changes`;
const LOCKED_IDS = Prisma.sql`select id from locked`;
