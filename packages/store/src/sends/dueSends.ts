import type { Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** A send that somebody has to look at now. */
export interface DueSend {
  id: string;
  mode: Mode;
  /** Changes with the send, so that a changed send may be enqueued again. */
  version: number;
  /** Whether its deadline has come or its code was verified or locked, so that it can be failed without the provider. */
  isOver: boolean;
}

/** Seconds after which a send is enqueued again if nothing became of the job. */
const ENQUEUE_AGAIN_SECONDS = 3;

/**
 * Takes sends that are due to be enqueued, oldest first, and moves that time on. Several sweeps may run at once: each row goes to
 * one of them. Compares with `statement_timestamp()`: an index cannot be searched by the ever moving `clock_timestamp()`. The rows
 * are picked in a materialized step, because a planner that picked them anew for each row would pass the limit.
 *
 * @param onlyOver leaves the others due, for when there is no queue to put them on
 */
export async function takeDueSends(database: Database, limit: number, onlyOver: boolean): Promise<DueSend[]> {
  const isOver = Prisma.sql`mode = 'live' and (expires_at <= statement_timestamp() or verification <> 'pending')`;
  return database.$queryRaw<DueSend[]>`
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

/** Any fixed number: whoever holds it wakes sends, the others leave that to it. */
const WAKE_LOCK = 7_165_203;

/**
 * Makes sends due that wait for a sender and could have a slot of one within the horizon, oldest first, and no more than there
 * are slots: the slots are promised to them, so any number of callers wakes no more than one would. One whose deadline has come
 * waits for its end, one that is held for its release. Reads no send while no sender has a slot, or everything is held. The caller enqueues them; the sweep does when that is lost.
 *
 * @returns the sends woken, in their new version
 */
export async function wakeAwaitingSends(
  database: Database,
  limit: number,
  horizonMs: number,
): Promise<Pick<DueSend, 'id' | 'version'>[]> {
  return database.$queryRaw<Pick<DueSend, 'id' | 'version'>[]>`
    with turn as materialized (
      select pg_try_advisory_xact_lock(${WAKE_LOCK}) as is_mine
    ), held as materialized (
      select active_holds() as holds
    ), able as materialized (
      select r.id from senders r left join send_slots s on s.sender_id = r.id
      where (r.paused_at is null or r.paused_until <= statement_timestamp())
        and coalesce(greatest(s.free_at, s.promised_to) <= statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0), true)
    ), oldest as materialized (
      select w.id, w.account_id, w.canonical_recipient as recipient, w.country, w.created_at from sends w cross join held
      where (select is_mine from turn) and (select count(*) from able) > 0
        and not (select (holds).all_live from held) and not is_held(held.holds, w.account_id, w.country)
        and w.awaiting_sender and w.expires_at > statement_timestamp() and exists (
          select from able a
          where not exists (
            select from sender_country_blocks b
            where b.sender_id = a.id and b.country = w.country and b.blocked_until > statement_timestamp()
          ) and not exists (
            select from sender_recipient_windows p
            where p.sender_id = a.id and p.recipient_hash = hashtextextended(w.recipient, 0)
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
  const [row] = await database.$queryRaw<[{ count: number }]>`
    select count(*)::integer as count from sends where awaiting_sender`;
  return row.count;
}
