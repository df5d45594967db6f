import type { Mode } from '@onecode/domain';
import type { Database } from './database.js';

/** A send that somebody has to look at now. */
export interface DueSend {
  id: string;
  mode: Mode;
  /** Changes with the send, so that a changed send may be rung again. */
  version: number;
  /** Whether its deadline has come, so that it can be failed without the provider. */
  expired: boolean;
}

/** Seconds after which a send is rung again if nothing became of the ring. */
const RING_AGAIN_SECONDS = 3;

/**
 * Takes sends whose ring is due, oldest first, and moves their next ring on. Several sweeps may run at once: each row goes to
 * one of them. Compares with `statement_timestamp()`: an index cannot be searched by the ever moving `clock_timestamp()`. The rows
 * are picked in a materialized step, because a planner that picked them anew for each row would pass the limit.
 *
 * @param onlyExpired leaves the others due, for when there is no queue to ring them on
 */
export async function takeDueSends(
  database: Database,
  limit: number,
  onlyExpired: boolean,
): Promise<DueSend[]> {
  return database.$queryRaw<DueSend[]>`
    with due as materialized (
      select id from sends
      where ring_at <= statement_timestamp()
        and (not ${onlyExpired} or (mode = 'live' and expires_at <= statement_timestamp()))
      order by ring_at limit ${limit} for update skip locked
    )
    update sends set ring_at = clock_timestamp() + make_interval(secs => ${RING_AGAIN_SECONDS})
    where id in (select id from due)
    returning id, mode, version, (mode = 'live' and expires_at <= statement_timestamp()) as expired`;
}

/**
 * Makes sends due that wait for a sender and could have one now, oldest first. One whose deadline has come waits for its end.
 *
 * @returns how many
 */
export async function wakeAwaitingSends(database: Database, limit: number): Promise<number> {
  return database.$executeRaw`
    with awaiting as materialized (
      select w.id from sends w
      where w.awaiting_sender and w.expires_at > statement_timestamp() and exists (
        select from senders r
        where (r.paused_at is null or r.paused_until <= statement_timestamp()) and not exists (
          select from sender_country_blocks b
          where b.sender_id = r.id and b.country = w.country and b.blocked_until > statement_timestamp()
        )
      )
      order by w.created_at limit ${limit} for update skip locked
    )
    update sends set awaiting_sender = false, due_at = clock_timestamp(), ring_at = clock_timestamp(), version = version + 1
    where id in (select id from awaiting)`;
}
