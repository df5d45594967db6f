import { oncePerClient } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { createChangeBatcher, recordsOf, type Change } from './changeBatcher.js';
import { assignments, RECORD_COLUMNS } from './sendRow.js';

/**
 * Writes what became of a delivery, with its attempts and a failure's refund. @returns whether the row still had the version
 */
export async function writeDelivery(database: Database, change: Change): Promise<boolean> {
  if (!isFailure(change)) return batcherOf(database)(change);
  // A refund locks an account besides: a batch of them would lock sends and accounts in no order.
  return (await writeChanges(database, [change])).length === 1;
}

const batcherOf = oncePerClient((database: Database) =>
  createChangeBatcher((changes) => writeChanges(database, changes)),
);

export const isFailure = ({ before, after }: Change): boolean =>
  before.status !== 'failed' && after.status === 'failed';

/**
 * Writes changes of different sends in one statement, each guarded by its row's version. Everybody locks sends in the order of their
 * ids, so that no two statements wait for each other.
 */
function writeChanges(database: Database, changes: readonly Change[]): Promise<{ id: string }[]> {
  const records = recordsOf(changes, (change) => ({
    is_failure: isFailure(change),
    calls: change.attempts.map(({ id, senderId, outcome, errorCode, messageId }) => ({
      id,
      sender_id: senderId,
      outcome,
      error_code: errorCode,
      message_id: messageId,
    })),
  }));
  return database.sql.query<{ id: string }[]>`
    with changes as materialized (
      select * from json_to_recordset(${records}::json)
        as c (id uuid, version integer, ${RECORD_COLUMNS}, is_failure boolean, calls json)
    ), locked as materialized (
      -- One probe for each send, in the order of the ids.
      select s.id from (select id, version from changes order by id) c
      cross join lateral (select id from sends where id = c.id and version = c.version for no key update) s
    ), changed as (
      update sends s set ${assignments('c')}, next_enqueue_at = c.due_at + interval '1 second', version = s.version + 1
      from changes c
      where s.id = any(array(select id from locked)) and c.id = s.id and c.version = s.version
      returning s.id, s.account_id, s.charged_from, c.is_failure, c.calls
    ), called as (
      insert into attempts (id, send_id, sender_id, outcome, error_code, message_id, finished_at)
      select a.id, changed.id, a.sender_id, a.outcome, a.error_code, a.message_id,
        case when a.outcome is not null then clock_timestamp() end
      from changed cross join json_to_recordset(changed.calls)
        as a (id uuid, sender_id uuid, outcome text, error_code integer, message_id text)
      on conflict (id) do update set
        outcome = excluded.outcome, error_code = excluded.error_code, finished_at = excluded.finished_at,
        message_id = coalesce(excluded.message_id, attempts.message_id)
    ), returned as (
      -- Before its ledger entry, which so gets its id under the account's lock: in the order in which entries count.
      update accounts set
        free_quota = free_quota + (changed.charged_from = 'free_quota')::integer,
        credits = credits + (changed.charged_from = 'credit')::integer
      from changed where changed.is_failure and accounts.id = changed.account_id and changed.charged_from is not null
      returning changed.account_id, changed.id, changed.charged_from
    ), refunded as (
      insert into ledger_entries (account_id, send_id, kind, bucket, units)
      select account_id, id, 'returned', charged_from, 1 from returned
    )
    select id from changed`;
}
