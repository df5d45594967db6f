import type { HeldMessages } from '@onecode/domain';
import type { Connection } from '../client/database.js';

/** Returns how many messages of the last 24 hours the provider held, for each sender with any. */
export async function countHeldMessages({
  sql,
}: Connection): Promise<(HeldMessages & { senderId: string })[]> {
  return sql.query<(HeldMessages & { senderId: string })[]>`
    with held as (
      select sender_id, finished_at, finished_at > statement_timestamp() - interval '1 hour' as is_last_hour from attempts
      where message_status is not null and finished_at > statement_timestamp() - interval '1 day' and sender_id is not null
    )
    select sender_id as "senderId", count(*)::integer as "lastDay", count(*) filter (where is_last_hour)::integer as "lastHour",
      coalesce(extract(epoch from max(finished_at) - min(finished_at) filter (where is_last_hour)), 0)::integer as "lastHourSeconds"
    from held group by 1 order by 1`;
}
