import type { Database } from '../client/database.js';
import { readIdTime } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { addCounts, countTimes, TIME_BOUNDS } from './sendCounts.js';

const DAY_MS = 86_400_000;
/**
 * A day is final this many days after its end: codes are active for at most 90 minutes, and the provider repeats a receipt for seven days.
 * A later receipt changes its send, but not the statistics.
 */
export const FINAL_AFTER_DAYS = 8;
/** How many sends are read at once. Reading a whole busy day at once would exceed the statement time-out. */
const PART = 50_000;
const AGGREGATION_MS_MAX = 600_000;

/** SQL for an accepted message that may never arrive: it has no delivery receipt, and no correct code shows that it did. */
export const UNDELIVERED = `status = 'sent' and verification <> 'verified'`;

/** The counted columns of the table, each with the SQL condition under which a send counts. */
const COUNTS = {
  created: 'true',
  delivered: `delivered_at is not null or status in ('delivered', 'read')`,
  verified: `verification = 'verified'`,
  expired_before_delivery: `failure_reason = 'expired_before_delivery'`,
  attempts_exhausted: `failure_reason = 'attempts_exhausted'`,
  rejected_by_provider: `failure_reason = 'rejected_by_provider'`,
  failed_verified: `status = 'failed' and verification = 'verified'`,
  undelivered: `${UNDELIVERED} and expires_at <= statement_timestamp()`,
};
export type Count = keyof typeof COUNTS;

const DELIVERY_TIMES = Prisma.sql`
  array_agg(width_bucket(date_part('epoch', delivered_at - created_at), ${[...TIME_BOUNDS]}::float8[]))
    filter (where delivered_at is not null)`;

/** A group of sends: of an application, to a country, in a language. */
export interface Cell {
  application: string;
  /** `NO_COUNTRY` for numbers without a country. */
  country: string;
  locale: string;
}

/** The result of `countSends` for each cell. */
export interface CountedSends extends Cell {
  /** In the order of `names`. */
  counts: number[];
  /** The bucket of each delivery time; null without deliveries. */
  delivery_times: number[] | null;
}

/**
 * Returns SQL that counts `sends` by cell. Each row of `sends` stands for `n` sends.
 *
 * @param names of the counts
 * @param by another column of `sends` to group by, and of the result
 */
export function countSends(sends: Prisma.Sql, names: readonly Count[], by?: 'bucket'): Prisma.Sql {
  const counts = names.map((name) => `coalesce(sum(n) filter (where ${COUNTS[name]}), 0)::float8`);
  const andBy = by === undefined ? Prisma.empty : Prisma.raw(`, ${by}`);
  return Prisma.sql`
    select application_id as application, country, locale collate "C" as locale,
      array[${Prisma.raw(counts.join(', '))}] as counts, ${DELIVERY_TIMES} as delivery_times ${andBy}
    from (${sends}) s group by 1, 2, 3 ${andBy}`;
}

/** Returns the time up to which all sends, by their ids, are in the table. `countSends` counts the others. */
export async function countedUntil({ sql }: Pick<Database, 'sql'>): Promise<Date> {
  const [{ position }] = await sql.query<[{ position: string }]>`
    select position from cursors where name = 'statistics'`;
  return readIdTime(position);
}

/**
 * Aggregates the days that are final, oldest first, each exactly once even after an interruption. Skips a day that another caller is
 * aggregating. Does not aggregate a day, or any later day, while one of its sends or receipts is still pending.
 *
 * @param signal ends the run; a day that was begun is aggregated by the next run
 */
export async function aggregateDays(database: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await aggregateDay(database, signal)));
}

/** Aggregates the next day. @returns whether there may be another one */
async function aggregateDay(database: Database, signal: AbortSignal): Promise<boolean> {
  return database.transaction(
    async ({ sql }) => {
      const [first] = await sql.query<{ id: string; cutoff: Date }[]>`
        with cursor as materialized (select position from cursors where name = 'statistics' for update skip locked)
        select s.id, statement_timestamp() - make_interval(days => ${FINAL_AFTER_DAYS}::integer) as cutoff
        from cursor c cross join lateral (select id from sends where id >= c.position order by id limit 1) s`;
      if (first === undefined) return false;
      const day = new Date(Math.floor(readIdTime(first.id).getTime() / DAY_MS) * DAY_MS);
      const end = new Date(day.getTime() + DAY_MS);
      if (end > first.cutoff) return false;
      const afterDay = Prisma.sql`first_id_at(${end}::timestamptz)`;
      const [{ waits }] = await sql.query<[{ waits: boolean }]>`
        select exists (select from sends where due_at is not null and id >= ${first.id}::uuid and id < ${afterDay})
          or exists (
            -- Not a receipt that the database has refused for more than an hour.
            select from provider_reports where kind = 'receipt' and tries < 100
              and (report #>> '{attempt,sendId}')::uuid >= ${first.id}::uuid and (report #>> '{attempt,sendId}')::uuid < ${afterDay}
          )
          as waits`;
      if (waits) return false;
      const rows = new Map<string, FoldedCell>();
      for (let id: string | undefined = first.id; id !== undefined;) {
        if (signal.aborted) return false;
        const [next]: { id: string }[] = await sql.query<{ id: string }[]>`
          select id from sends where id >= ${id}::uuid and id < ${afterDay} order by id offset ${PART} limit 1`;
        const part = Prisma.sql`
          select *, 1 as n from sends where id >= ${id}::uuid and id < ${next === undefined ? afterDay : Prisma.sql`${next.id}::uuid`}`;
        for (const cell of await sql.query<CountedSends[]>(countSends(part, ALL_COUNTS))) addTo(rows, cell);
        id = next?.id;
      }
      const records = [...rows.values()].map(({ application, counts, ...row }) => ({
        ...row,
        application_id: application,
        day,
        ...Object.fromEntries(ALL_COUNTS.map((name, place) => [name, counts[place]])),
      }));
      await sql.execute`
        insert into daily_statistics
        select * from jsonb_populate_recordset(null::daily_statistics, ${JSON.stringify(records)}::jsonb)`;
      await sql.execute`update cursors set position = ${afterDay} where name = 'statistics'`;
      return true;
    },
    { timeout: AGGREGATION_MS_MAX },
  );
}

const ALL_COUNTS = Object.keys(COUNTS) as Count[];

interface FoldedCell extends Cell {
  counts: number[];
  delivery_times: number[];
}

function addTo(rows: Map<string, FoldedCell>, { application, country, locale, ...part }: CountedSends): void {
  const key = `${application} ${country} ${locale}`;
  const row = rows.get(key) ?? { application, country, locale, counts: [], delivery_times: [] };
  rows.set(key, row);
  addCounts(row.counts, part.counts);
  addCounts(row.delivery_times, countTimes(part.delivery_times ?? []));
}

/** Deletes an account's rows of the table, after its sends. A day that is being aggregated may still contain some of them. */
export async function deleteDailyStatistics(database: Database, accountId: string): Promise<void> {
  await database.transaction(async ({ sql }) => {
    await sql.execute`select from cursors where name = 'statistics' for update`;
    await sql.execute`
      delete from daily_statistics d using applications p where p.id = d.application_id and p.account_id = ${accountId}::uuid`;
  });
}
