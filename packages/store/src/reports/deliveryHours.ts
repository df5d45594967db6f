import type { DeliveryCount } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { UNDELIVERED } from './dailyStatistics.js';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** The last day and the seven days before it. */
const KEPT_HOURS = 8 * DAY_HOURS;
/** The ages at which an hour is counted, newest first: again for codes that expired later, and for late receipts. */
const COUNTED_HOURS_AGO = [1, 2, 4, 8, DAY_HOURS];
/** How much of an hour one statement reads. At thousands of sends a second, a whole hour would exceed the statement time-out. */
const PART_MS = 300_000;
const HOUR_COUNTING_MS_MAX = 60_000;

/**
 * Counts the accepted live messages of some hours of the last day, and how many of them never arrived, by country and sender. Each hour is
 * counted again at growing ages, because reading the whole day each hour would keep a busy database occupied. A message counts when its
 * code has expired, because Meta drops it by then: the template's time to live is not longer. Does nothing if it has run in the current
 * hour, or if another caller has begun.
 *
 * @param signal ends the run; an hour that was begun is counted at its next age
 */
export async function countDeliveryHours(database: Database, signal: AbortSignal): Promise<void> {
  const [due] = await database.sql.query<{ current: Date }[]>`
    with hour as materialized (select date_bin('1 hour', statement_timestamp(), 'epoch') as current)
    update cursors c set position = first_id_at(h.current) from hour h
    where c.name = 'deliveries' and c.position < first_id_at(h.current) returning h.current`;
  if (due === undefined) return;
  const hoursAgo = (hours: number): Date => new Date(due.current.getTime() - hours * HOUR_MS);
  for (const hours of COUNTED_HOURS_AGO) {
    if (signal.aborted) return;
    await countHour(database, hoursAgo(hours), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
  await database.sql.execute`delete from delivery_hours where hour < ${hoursAgo(KEPT_HOURS)}`;
}

async function countHour(database: Database, hour: Date, signal: AbortSignal): Promise<void> {
  await database.transaction(
    async ({ sql }) => {
      await sql.execute`delete from delivery_hours where hour = ${hour}`;
      for (let ms = 0; ms < HOUR_MS; ms += PART_MS) {
        signal.throwIfAborted();
        const [start, end] = [new Date(hour.getTime() + ms), new Date(hour.getTime() + ms + PART_MS)];
        await sql.execute`
          insert into delivery_hours as d (hour, country, sender_id, accepted, undelivered)
          select ${hour}::timestamptz, country, sender_id, count(*), count(*) filter (where ${Prisma.raw(UNDELIVERED)})
          from sends
          where id >= first_id_at(${start}::timestamptz) and id < first_id_at(${end}::timestamptz) and expires_at <= statement_timestamp()
            and mode = 'live' and status in ('sent', 'delivered', 'read') and sender_id is not null
          group by 2, 3
          on conflict (hour, country, sender_id) do update
            set accepted = d.accepted + excluded.accepted, undelivered = d.undelivered + excluded.undelivered`;
      }
    },
    { timeout: HOUR_COUNTING_MS_MAX },
  );
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
