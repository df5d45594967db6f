import type { Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** A send that a worker has to act on now. */
export interface DueSend {
  id: string;
  mode: Mode;
  /** Every change raises it, so that a changed send can be enqueued again. */
  version: number;
  /** Whether its code has expired, was verified or was locked: then it fails without a call to the provider. */
  isOver: boolean;
}

/** Seconds after which a send is enqueued again if its job changed nothing. */
const ENQUEUE_AGAIN_SECONDS = 3;

/**
 * Takes sends that are due to be enqueued, oldest first, and moves that time on. Several sweepers may run at once: each row goes to
 * one of them. Compares with `statement_timestamp()`, because no index can be searched by the volatile `clock_timestamp()`. A
 * materialized step picks the rows, because a planner that picked them anew for each row would exceed the limit.
 *
 * @param onlyOver takes only those with `isOver` and leaves the others due, for times without a queue
 */
export async function takeDueSends(database: Database, limit: number, onlyOver: boolean): Promise<DueSend[]> {
  const isOver = Prisma.sql`mode = 'live' and (expires_at <= statement_timestamp() or verification <> 'pending')`;
  return database.sql.query<DueSend[]>`
    with due as materialized (
      select id from sends
      where next_enqueue_at <= statement_timestamp()
        and (not ${onlyOver} or (${isOver}))
      order by next_enqueue_at limit ${limit} for update skip locked
    )
    update sends set next_enqueue_at = clock_timestamp() + make_interval(secs => ${ENQUEUE_AGAIN_SECONDS})
    where id in (select id from due)
    returning id, mode, version, (${isOver}) as "isOver"`;
}

/** Any fixed number. Only the caller that holds the lock wakes sends; the others return without any. */
const WAKE_LOCK = 7_165_203;

/**
 * Wakes sends that wait for a sender, oldest first: makes those due that can have a send slot within the horizon. The slots are promised
 * to them, so that any number of callers wakes no more sends than there are slots. An expired send stays for the sweeper, a held one for
 * its release. Reads no send while no sender has a slot or everything is held. The caller enqueues the sends; if it dies before that,
 * the sweeper does.
 *
 * @returns the woken sends, with their new versions
 */
export async function wakeAwaitingSends(
  database: Database,
  limit: number,
  horizonMs: number,
): Promise<Pick<DueSend, 'id' | 'version'>[]> {
  return database.sql.query<Pick<DueSend, 'id' | 'version'>[]>`
    with lock as materialized (
      select pg_try_advisory_xact_lock(${WAKE_LOCK}) as is_taken
    ), held as materialized (
      select active_holds() as holds
    ), available as materialized (
      select r.id from senders r left join send_slots s on s.sender_id = r.id
      where (r.paused_at is null or r.paused_until <= statement_timestamp())
        and coalesce(greatest(s.free_at, s.promised_to) <= statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0), true)
    ), oldest as materialized (
      select w.id, w.account_id, w.canonical_recipient as recipient, w.country, w.created_at from sends w cross join held
      where (select is_taken from lock) and (select count(*) from available) > 0
        and not (select (holds).all_live from held) and not is_held(held.holds, w.account_id, w.country)
        and w.awaiting_sender and w.expires_at > statement_timestamp() and exists (
          select from available a
          where not exists (
            select from sender_country_blocks b
            where b.sender_id = a.id and b.country = w.country and b.blocked_until > statement_timestamp()
          ) and not exists (
            select from sender_recipient_windows p
            where p.sender_id = a.id and p.recipient_hash = hashtextextended(w.canonical_recipient, 0)
              and p.free_at > statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0)
          )
        )
      order by w.created_at limit ${limit} for update of w skip locked
    ), numbered as materialized (
      select id, row_number() over (order by created_at, id) as ordinal from oldest
    ), promised as materialized (
      select ordinal from take_send_slots(
        array(select account_id from oldest order by created_at, id),
        array(select recipient from oldest order by created_at, id), array(select country from oldest order by created_at, id),
        ${horizonMs}::integer, true
      ) where sender_id is not null
    )
    update sends set awaiting_sender = false, due_at = clock_timestamp(), version = version + 1,
      next_enqueue_at = clock_timestamp() + make_interval(secs => ${ENQUEUE_AGAIN_SECONDS})
    where id in (select id from numbered join promised using (ordinal))
    returning id, version`;
}

/** How many sends wait for a sender. */
export async function countAwaitingSends(database: Database): Promise<number> {
  const [row] = await database.sql.query<[{ count: number }]>`
    select count(*)::integer as count from sends where awaiting_sender`;
  return row.count;
}
