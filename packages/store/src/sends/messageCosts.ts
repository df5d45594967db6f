import { NO_COUNTRY } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { firstIdAt } from '../client/ids.js';

/**
 * Counts what these receipts say of their messages' prices. A message is counted once as priced, by the first receipt with a price that
 * is handled, and once as delivered, however often its receipts are handled, in whatever order, and by however many callers.
 */
export async function countMessageCosts(database: Database, receiptIds: readonly bigint[]): Promise<void> {
  if (receiptIds.length === 0) return;
  await database.sql.execute`
    with reports as materialized (
      select a.id as attempt_id, r.status in ('delivered', 'read') as is_delivery, r.occurred_at, r.pricing,
        coalesce(s.country, ${NO_COUNTRY}) as country, s.charged_from
      from unnest(${[...receiptIds]}::bigint[]) as given (id)
      cross join lateral (select * from receipts where id = given.id and pricing is not null limit 1) r
      cross join lateral (
        select * from attempts where id = coalesce(
          (select id from attempts where id = r.attempt_id),
          (select id from attempts where message_id = r.message_id order by started_at limit 1)
        ) limit 1
      ) a
      cross join lateral (select * from sends where id = a.send_id limit 1) s
    ), facts as materialized (
      select distinct on (attempt_id, is_delivery) *
      from (
        select attempt_id, false as is_delivery, occurred_at, pricing, country, charged_from from reports
        union all select attempt_id, true, occurred_at, pricing, country, charged_from from reports where is_delivery
      ) all_facts
      order by attempt_id, is_delivery, occurred_at
    ), new_facts as (
      insert into counted_messages (attempt_id, is_delivery)
      -- In one order for everybody, here and below: simultaneous callers would wait for each other without end.
      select attempt_id, is_delivery from facts order by attempt_id, is_delivery
      on conflict do nothing
      returning attempt_id, is_delivery
    )
    insert into message_costs as c
      (day, country, category, type, billable, pricing_model, messages, delivered, free_sends, credits)
    select (occurred_at at time zone 'UTC')::date, country, pricing ->> 'category', pricing ->> 'type',
      (pricing ->> 'billable')::boolean, pricing ->> 'model',
      count(*) filter (where not is_delivery), count(*) filter (where is_delivery),
      count(*) filter (where is_delivery and charged_from = 'free_quota'),
      count(*) filter (where is_delivery and charged_from = 'credit')
    from facts join new_facts using (attempt_id, is_delivery)
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (day, country, category, type, billable, pricing_model) do update set
      messages = c.messages + excluded.messages, delivered = c.delivered + excluded.delivered,
      free_sends = c.free_sends + excluded.free_sends, credits = c.credits + excluded.credits`;
}

/**
 * Forgets which messages of so many days ago are counted, up to `limit`; the counts stay. An attempt's id begins with the time at which
 * it was made.
 *
 * @returns how many
 */
export async function deleteOldCountedMessages(
  database: Database,
  olderThanDays: number,
  limit: number,
): Promise<number> {
  const before = firstIdAt(new Date(Date.now() - olderThanDays * 86_400_000));
  return database.sql.execute`
    delete from counted_messages where (attempt_id, is_delivery) in (
      select attempt_id, is_delivery from counted_messages where attempt_id < ${before}::uuid
      order by attempt_id limit ${limit}
    )`;
}
