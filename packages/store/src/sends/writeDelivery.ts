import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { createChangeBatcher, updateSends, type Change } from './changeBatcher.js';

/** Writes the result of a delivery, with its attempts and the refund of a failure. @returns whether the row still had the version */
export function writeDelivery(database: Database, change: Change): Promise<boolean> {
  return isFailure(change) ? writeFailure(database, change) : getBatcher(database)(change);
}

const getBatcher = oncePerClient((database: Database) =>
  createChangeBatcher((changes) =>
    changes.some(({ attempts }) => attempts.length > 0)
      ? writeAttempts(database, changes)
      : writeStates(database, changes),
  ),
);

export const isFailure = ({ before, after }: Change): boolean =>
  before.status !== 'failed' && after.status === 'failed';

export const ATTEMPT_RECORDS = {
  columns: Prisma.sql`attempt_records json`,
  valuesOf: ({ attempts, at }: Change) => ({
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
  }),
};

/** The step that writes the attempts of `changed`. */
export const ATTEMPTED = Prisma.sql`
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
      outcome = excluded.outcome,
      error_code = case when excluded.outcome = attempts.outcome then coalesce(excluded.error_code, attempts.error_code) else excluded.error_code end,
      -- The call ended when it was accepted, even if its message fails later.
      finished_at = case when attempts.outcome = 'accepted' then attempts.finished_at else excluded.finished_at end,
      message_id = coalesce(excluded.message_id, attempts.message_id),
      message_status = coalesce(excluded.message_status, attempts.message_status),
      reported_at = coalesce(attempts.reported_at, excluded.reported_at),
      reported_code = coalesce(attempts.reported_code, excluded.reported_code)
    -- A failed response never overwrites an earlier receipt.
    where excluded.outcome = 'accepted' or excluded.reported_at is not null
  )`;

const ATTEMPTED_SENDS = {
  records: ATTEMPT_RECORDS,
  returning: Prisma.sql`s.id, s.account_id, s.charged_from, s.verification, c.attempt_records`,
};
const ONLY_IDS = { returning: Prisma.sql`s.id` };

function writeStates(database: Database, changes: readonly Change[]): Promise<{ id: string }[]> {
  return database.sql.query<{ id: string }[]>`with ${updateSends(changes, ONLY_IDS)} select id from changed`;
}

function writeAttempts(database: Database, changes: readonly Change[]): Promise<{ id: string }[]> {
  return database.sql.query<{ id: string }[]>`
    with ${updateSends(changes, ATTEMPTED_SENDS)}, ${ATTEMPTED} select id from changed`;
}

/**
 * The steps that refund the unit of a failure in `changed`. The unit is kept if the code was verified and a message may have arrived. Each
 * failure has its own statement, because a refund also locks an account, and a batch would lock sends and accounts in no fixed order.
 */
export const REFUNDED = Prisma.sql`
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

/** Writes a failure with its refund in one statement. */
async function writeFailure(database: Database, change: Change): Promise<boolean> {
  const written = await database.sql.query<{ id: string }[]>`
    with ${updateSends([change], ATTEMPTED_SENDS)}, ${ATTEMPTED}, ${REFUNDED} select id from changed`;
  return written.length === 1;
}
