import { COUNTS, NO_COUNTRY, TIME_BOUNDS, addCounts, noSends, type SendCounts } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { firstIdAt, timeOf } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';

const DAY_MS = 86_400_000;
/**
 * So many days after its end a day changes no more: codes live for 90 minutes at the most, and the provider repeats a receipt for seven
 * days. A receipt that comes still later changes its send, and no statistics.
 */
const SETTLED_DAYS = 8;
/** Sends that are read at once: a day of many takes longer than a statement may. */
const PART = 50_000;
const FOLD_MS_MAX = 600_000;

const CONDITIONS: Record<(typeof COUNTS)[number], string> = {
  created: 'true',
  sent: 'sent_at is not null',
  delivered: `delivered_at is not null or status in ('delivered', 'read')`,
  read: 'read_at is not null',
  verified: `verification = 'verified'`,
  locked: `verification = 'locked'`,
  expired: `verification = 'pending' and expires_at <= statement_timestamp()`,
  expired_before_delivery: `failure_reason = 'expired_before_delivery'`,
  attempts_exhausted: `failure_reason = 'attempts_exhausted'`,
  rejected_by_provider: `failure_reason = 'rejected_by_provider'`,
};

const bucketOf = (time: string): Prisma.Sql => Prisma.sql`
  array_agg(width_bucket(extract(epoch from ${Prisma.raw(time)} - created_at)::float8, ${[...TIME_BOUNDS]}::float8[]))
    filter (where ${Prisma.raw(time)} is not null)`;
/** What sends are listed by, one for one. */
const LISTS = {
  delivery_times: bucketOf('delivered_at'),
  verification_times: bucketOf('verified_at'),
  prices: Prisma.sql`array_agg((pricing ->> 'category') || case when (pricing ->> 'billable')::boolean then ' billable' else ' free' end)
    filter (where pricing is not null)`,
};

/** Sends of an application to a country in a language. Lists are null where there is nothing in them. */
export interface CountedSends extends Record<(typeof COUNTS)[number], number> {
  application: string;
  /** `NO_COUNTRY` for numbers of none. */
  country: string;
  locale: string;
  /** The buckets of the times of each. */
  delivery_times: number[] | null;
  verification_times: number[] | null;
  /** As `authentication billable` or `service free`. */
  prices: string[] | null;
}

/**
 * Counts `sends`, rows of the table of which each stands for `n` of them: `CountedSends` with these of its lists.
 *
 * @param by a further column of `sends` that tells them apart
 */
export function countSends(sends: Prisma.Sql, lists: (keyof typeof LISTS)[], by?: 'bucket'): Prisma.Sql {
  const counts = COUNTS.map(
    (name) => `coalesce(sum(n) filter (where ${CONDITIONS[name]}), 0)::float8 as ${name}`,
  );
  return Prisma.sql`
    select application_id as application, coalesce(country, ${NO_COUNTRY}) as country, locale collate "C" as locale,
      ${Prisma.raw([...(by === undefined ? [] : [by]), ...counts].join(', '))},
      ${Prisma.join(lists.map((name) => Prisma.sql`${LISTS[name]} as ${Prisma.raw(name)}`))}
    from (${sends}) s group by 1, 2, 3 ${by === undefined ? Prisma.empty : Prisma.sql`, 4`}`;
}

/** What a row of `countSends` says. @param weight how many sends each in a list stands for */
export function countsOf(row: CountedSends, weight = 1): SendCounts {
  const prices: Record<string, number> = {};
  for (const price of row.prices ?? []) prices[price] = (prices[price] ?? 0) + weight;
  return {
    ...row,
    deliveryTimes: timesOf(row.delivery_times ?? [], weight),
    verificationTimes: timesOf(row.verification_times ?? [], weight),
    prices,
  };
}

function timesOf(buckets: readonly number[], weight: number): number[] {
  const times: number[] = [];
  for (const bucket of buckets) {
    while (times.length <= bucket) times.push(0);
    times[bucket]! += weight;
  }
  return times;
}

/** Up to which time all sends are counted in the table, by their ids; the others are counted by `countSends`. */
export async function countedUntil({ sql }: Pick<Database, 'sql'>): Promise<Date> {
  const [{ up_to: upTo }] = await sql.query<[{ up_to: string }]>`
    select up_to from erasures where step = 'statistics'`;
  return timeOf(upTo);
}

/**
 * Counts the days that changed all that they can, oldest first, each once, and never if it is cut off. Leaves a day to another caller who
 * is at it. While a send of a day or a receipt of one waits, the day and those after it wait too.
 *
 * @param signal ends it after the day at hand
 */
export async function foldDays(database: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await foldDay(database)));
}

/** @returns whether there may be another one */
async function foldDay(database: Database): Promise<boolean> {
  return database.transaction(
    async ({ sql }) => {
      const [first] = await sql.query<{ id: string; settled: Date }[]>`
        with position as materialized (select up_to from erasures where step = 'statistics' for update skip locked)
        select s.id, statement_timestamp() - make_interval(days => ${SETTLED_DAYS}::integer) as settled
        from position e cross join lateral (select id from sends where id >= e.up_to order by id limit 1) s`;
      if (first === undefined) return false;
      const day = new Date(Math.floor(timeOf(first.id).getTime() / DAY_MS) * DAY_MS);
      const end = new Date(day.getTime() + DAY_MS);
      if (end > first.settled) return false;
      const [{ waits }] = await sql.query<[{ waits: boolean }]>`
        select exists (select from sends where due_at is not null and id >= ${first.id}::uuid and id < ${firstIdAt(end)}::uuid)
          or exists (select from receipts where due_at < 'infinity' and send_id >= ${first.id}::uuid and send_id < ${firstIdAt(end)}::uuid)
          as waits`;
      if (waits) return false;
      const cells = new Map<string, { of: CountedSends; counts: SendCounts }>();
      for (let id: string | undefined = first.id; id !== undefined;) {
        const [next]: { id: string }[] = await sql.query<{ id: string }[]>`
          select id from sends where id >= ${id}::uuid and id < ${firstIdAt(end)}::uuid order by id offset ${PART} limit 1`;
        const sends = Prisma.sql`
          select *, 1 as n from sends where id >= ${id}::uuid and id < ${next?.id ?? firstIdAt(end)}::uuid`;
        id = next?.id;
        for (const of of await sql.query<CountedSends[]>(
          countSends(sends, ['delivery_times', 'verification_times', 'prices']),
        )) {
          const key = `${of.application} ${of.country} ${of.locale}`;
          const cell = cells.get(key) ?? { of, counts: noSends() };
          addCounts(cell.counts, countsOf(of));
          cells.set(key, cell);
        }
      }
      const rows = [...cells.values()].map(
        ({ of, counts: { deliveryTimes, verificationTimes, ...counts } }) => ({
          ...counts,
          application_id: of.application,
          day,
          country: of.country,
          locale: of.locale,
          delivery_times: deliveryTimes,
          verification_times: verificationTimes,
        }),
      );
      await sql.execute`
        insert into daily_statistics
        select * from jsonb_populate_recordset(null::daily_statistics, ${JSON.stringify(rows)}::jsonb)`;
      await sql.execute`update erasures set up_to = ${firstIdAt(end)}::uuid where step = 'statistics'`;
      return true;
    },
    { timeout: FOLD_MS_MAX },
  );
}

/** Deletes what is counted of an account in the table, after its sends: a day that is under way may still have some of them. */
export async function deleteDailyStatistics(database: Database, accountId: string): Promise<void> {
  await database.transaction(async ({ sql }) => {
    await sql.execute`select from erasures where step = 'statistics' for update`;
    await sql.execute`
      delete from daily_statistics d using applications p where p.id = d.application_id and p.account_id = ${accountId}::uuid`;
  });
}
