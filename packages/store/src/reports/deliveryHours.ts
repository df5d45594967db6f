import { NO_COUNTRY, type DeliveryCount } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { UNDELIVERED } from './dailyStatistics.js';

const HOUR_MS = 3_600_000;
/** The last day, which is counted again each hour because receipts may be late. */
const DAY_HOURS = 24;
/** The last day and the seven days before it. */
const KEPT_HOURS = 8 * DAY_HOURS;
const COUNTING_MS_MAX = 60_000;

/**
 * Counts the accepted live messages of the last 24 hours and of the current one, and how many of them never arrived, by country and sender.
 * A message counts when its code has expired, because Meta drops it by then: the template's time to live is not longer. Does nothing if it
 * has run in the current hour, or if another caller is counting. Reads the sends of each hour in a separate statement, because a busy day
 * would exceed the timeout.
 */
export async function countDeliveryHours(database: Database): Promise<void> {
  await database.transaction(
    async ({ sql }) => {
      const [due] = await sql.query<{ current: Date }[]>`
        with hour as materialized (select date_bin('1 hour', statement_timestamp(), 'epoch') as current)
        select h.current from cursors c, hour h
        where c.name = 'deliveries' and c.position < first_id_at(h.current) for update of c skip locked`;
      if (due === undefined) return;
      const hoursAgo = (hours: number): Date => new Date(due.current.getTime() - hours * HOUR_MS);
      for (let hours = DAY_HOURS; hours >= 0; hours--) await countHour({ sql }, hoursAgo(hours));
      await sql.execute`delete from delivery_hours where hour < ${hoursAgo(KEPT_HOURS)}`;
      await sql.execute`update cursors set position = first_id_at(${due.current}::timestamptz) where name = 'deliveries'`;
    },
    { timeout: COUNTING_MS_MAX },
  );
}

async function countHour({ sql }: Pick<Connection, 'sql'>, hour: Date): Promise<void> {
  const end = new Date(hour.getTime() + HOUR_MS);
  await sql.execute`delete from delivery_hours where hour = ${hour}`;
  await sql.execute`
    insert into delivery_hours (hour, country, sender_id, accepted, undelivered)
    select ${hour}::timestamptz, coalesce(country, ${NO_COUNTRY}), sender_id, count(*), count(*) filter (where ${Prisma.raw(UNDELIVERED)})
    from sends
    where id >= first_id_at(${hour}::timestamptz) and id < first_id_at(${end}::timestamptz) and expires_at <= statement_timestamp()
      and mode = 'live' and status in ('sent', 'delivered', 'read') and sender_id is not null
    group by 2, 3`;
}

/** Returns the counted messages of each country and sender. */
export async function readDeliveries(database: Connection): Promise<DeliveryCount[]> {
  const sum = (when: string): Prisma.Sql => Prisma.sql`
    jsonb_build_object('accepted', coalesce(sum(accepted) filter (where ${Prisma.raw(when)}), 0),
      'undelivered', coalesce(sum(undelivered) filter (where ${Prisma.raw(when)}), 0))`;
  return database.sql.query<DeliveryCount[]>`
    with counted as (
      select d.*, hour >= date_bin('1 hour', statement_timestamp(), 'epoch') - make_interval(hours => ${DAY_HOURS}::integer) as is_last_day
      from delivery_hours d
      where hour >= date_bin('1 hour', statement_timestamp(), 'epoch') - make_interval(hours => ${KEPT_HOURS}::integer)
    )
    select country, sender_id as "senderId", ${sum('is_last_day')} as "lastDay", ${sum('not is_last_day')} as "weekBefore"
    from counted group by 1, 2 order by 1, 2`;
}
