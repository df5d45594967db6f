import type { Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** A send that a worker has to act on now. */
export interface DueSend {
  id: string;
  accountId: string;
  mode: Mode;
  /** Every change raises it, so that a changed send can be enqueued again. */
  version: number;
  /** Whether its code has expired, was verified or was locked: then it fails without a call to the provider. */
  isOver: boolean;
}

/** Seconds after which a send is enqueued again if its job changed nothing. */
export const ENQUEUE_AGAIN_SECONDS = 3;

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
    returning id, account_id as "accountId", mode, version, (${isOver}) as "isOver"`;
}
