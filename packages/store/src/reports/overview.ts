import { FAILURE_REASONS, type FailureReason, type Locale, type Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { countedUntil, countSends, type Cell, type CountedSends } from './dailyStatistics.js';
import { addCounts, countTimes, secondsWithin } from './sendCounts.js';
import { bucketStarts } from './timeZones.js';

/** Which sends an overview covers, and its buckets. */
export interface OverviewQuestion {
  /** Inclusive; `to` is exclusive. */
  from: Date;
  to: Date;
  applicationId?: string;
  /** Omitted: both. */
  mode?: Mode;
  locale?: Locale;
  bucket: 'hour' | 'day';
  /** An IANA name that defines when days and hours start. It is never sent to PostgreSQL, which may not know it. */
  timeZone: string;
}

/** Statistics of sends. Shares are of `sends` unless stated, from 0 to 1, and null if there are none; times are null if there are none. */
export interface SendStatistics {
  sends: number;
  delivered: number;
  verified: number;
  failed: number;
  /** Accepted messages with an expired code that have no delivery receipt and no correct code. */
  undelivered: number;
  deliveredShare: number | null;
  verifiedShare: number | null;
  failedShare: number | null;
  /** Of the messages that were delivered or counted as undelivered. */
  undeliveredShare: number | null;
  /** Seconds from creation to delivery, accurate to 9%. */
  deliverySecondsMedian: number | null;
  deliverySecondsP95: number | null;
}

export interface Overview {
  /** The sampling factor n: of the days that are not aggregated yet, one in n sends was read. Null if all were. */
  sampled: number | null;
  totals: SendStatistics;
  /** Each hour or day of the period, without gaps; the first and the last may be partial. */
  series: (SendStatistics & { start: Date })[];
  /** The applications with sends, most sends first. */
  applications: (SendStatistics & { applicationId: string; name: string; mode: Mode })[];
  locales: (SendStatistics & { locale: Locale })[];
  /** The countries with sends (`NO_COUNTRY` for numbers without a country), most sends first. */
  countries: (SendStatistics & { country: string })[];
  /** The reasons of failures, most frequent first. */
  failures: { reason: FailureReason; sends: number }[];
  /** Failed sends with a verified code, which shows that their messages had arrived. */
  failedVerified: number;
}

const DAY_MS = 86_400_000;
/** Up to this number, all sends are read, in one index scan. */
const ALL_MAX = 40_000;
/**
 * The maximum number of sends that are sampled from a larger number, each by a look-up. A sampled overview takes no longer than one of
 * `ALL_MAX` sends.
 */
const SAMPLE_MAX = 20_000;
const BUCKETS_MAX = 1_000;
const BUCKET_MS = { hour: 3_600_000, day: DAY_MS } as const;

/**
 * Returns the statistics of an account's sends in a period. Buckets of days use the aggregated days, each assigned to the bucket that
 * contains its noon (UTC), so only the sends of the last days are read. If these are more than `ALL_MAX`, they are divided into equal
 * spans, and the first send of each span stands for all sends in it: a bucket's count is exact to within one span, and shares and times to
 * within one percent.
 *
 * @throws RangeError for more than a thousand buckets
 * @throws UnknownTimeZone, from `domain`
 */
export async function overview(
  database: Database,
  accountId: string,
  question: OverviewQuestion,
): Promise<Overview> {
  const { from, to, bucket } = question;
  if ((to.getTime() - from.getTime()) / BUCKET_MS[bucket] > BUCKETS_MAX)
    throw new RangeError(
      `an overview has at most ${BUCKETS_MAX} buckets: choose a shorter period or longer buckets`,
    );
  const starts = bucketStarts(bucket, question, question.timeZone);
  // A day that is aggregated between the two statements is read from its sends, which are stored for weeks.
  const until = await countedUntil(database);
  const openFrom = bucket === 'day' && from < until ? until : from;
  const [read, days] = await Promise.all([
    readOpen(database, accountId, question, openFrom, starts),
    openFrom === until ? readCounted(database, accountId, question, until) : [],
  ]);
  return buildOverview(starts, read, days);
}

/** The counts in an overview. Rows have them in this order, followed by the delivery times by bucket. */
const SHOWN = [
  'created',
  'delivered',
  'verified',
  'failed_verified',
  'undelivered',
  ...FAILURE_REASONS,
] as const;

interface OpenSends {
  k: bigint;
  applications: { id: string; name: string; mode: Mode }[];
  sends: (CountedSends & { bucket: number })[] | null;
}

const isWanted = (accountId: string, { applicationId, mode }: OverviewQuestion): Prisma.Sql => Prisma.sql`
  a.account_id = ${accountId}::uuid
  ${applicationId === undefined ? Prisma.empty : Prisma.sql`and a.id = ${applicationId}::uuid`}
  ${mode === undefined ? Prisma.empty : Prisma.sql`and a.mode = ${mode}`}`;

/** Reads the applications, and the sends since `from` by bucket and cell. */
async function readOpen(
  database: Database,
  accountId: string,
  question: OverviewQuestion,
  openFrom: Date,
  starts: readonly Date[],
): Promise<OpenSends> {
  const { to, locale } = question;
  const sends = Prisma.sql`
    select s.*, s.stands_for::integer as n, width_bucket(s.created_at, range.starts) as bucket
    from range, step, scope cross join lateral (${readSends(openFrom, to)}) s
    where ${locale === undefined ? Prisma.sql`true` : Prisma.sql`s.locale = ${locale}`}`;
  const [row] = await database.sql.query<[OpenSends]>`
    with range as materialized (
      select ${[...starts]}::timestamptz[] as starts
    ), scope as materialized (
      select a.id, a.name, a.mode, coalesce(last.application_number - first.application_number + 1, 0) as sends,
        last.application_number as last_number
      from applications a
      left join lateral (${edge('asc', openFrom, to)}) first on true
      left join lateral (${edge('desc', openFrom, to)}) last on true
      where ${isWanted(accountId, question)}
    ), step as materialized (
      select case when sum(sends) > ${ALL_MAX} then ceil(sum(sends) / ${SAMPLE_MAX}) else 1 end::bigint as k from scope
    ), counted as (
      ${countSends(sends, SHOWN, 'bucket')}
    )
    select step.k, (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'mode', mode)), '[]') from scope) as applications,
      (select jsonb_agg(to_jsonb(c)) from counted c) as sends
    from step`;
  return row;
}

/** The aggregated days of a cell. Each is a PostgreSQL array of the day's number since 1970 and its counts. */
interface CountedDays extends Cell {
  days: string;
}

/** Reads the cells of the aggregated days that have their noon in the period. */
async function readCounted(
  { sql }: Database,
  accountId: string,
  question: OverviewQuestion,
  until: Date,
): Promise<CountedDays[]> {
  const [first, last] = [question.from, question.to].map(
    (time) => new Date(Math.ceil((time.getTime() - DAY_MS / 2) / DAY_MS) * DAY_MS),
  ) as [Date, Date];
  // The driver writes a time in the process's time zone, so a cast of the time itself to a date could give the day before.
  const dayOf = (time: Date): Prisma.Sql => Prisma.sql`(${time}::timestamptz at time zone 'UTC')::date`;
  return sql.query<CountedDays[]>`
    select d.application_id as application, d.country, d.locale,
      -- One text is written and read much faster than thousands of rows.
      string_agg((array[day - '1970-01-01', ${Prisma.raw(SHOWN.join(', '))}] || delivery_times)::text, ',') as days
    from applications a cross join lateral (
      select * from daily_statistics where application_id = a.id and day >= ${dayOf(first)} and day < ${dayOf(last < until ? last : until)}
    ) d
    where ${isWanted(accountId, question)} ${question.locale === undefined ? Prisma.empty : Prisma.sql`and d.locale = ${question.locale}`}
    group by 1, 2, 3`;
}

/** Returns SQL for the oldest or newest send of an application `a` in the period. */
const edge = (order: 'asc' | 'desc', from: Date, to: Date): Prisma.Sql => Prisma.sql`
  select s.application_number from sends s where s.application_id = a.id and ${within(from, to)} order by s.id ${Prisma.raw(order)} limit 1`;

/** Returns SQL for whether a send `s` was requested in the period. The id starts with the time, so the index is in this order. */
const within = (from: Date, to: Date): Prisma.Sql =>
  Prisma.sql`s.id >= first_id_at(${from}::timestamptz) and s.id < first_id_at(${to}::timestamptz)`;

/**
 * Returns SQL for the sends of an application `scope`: all of them, or, if they are sampled, the first send of each of a number of equal
 * spans of time. A sampled send stands for all sends up to the next one. There is no join, so each part is an index scan.
 */
const readSends = (from: Date, to: Date): Prisma.Sql => Prisma.sql`
  (select s.*, 1::bigint as stands_for from sends s where step.k = 1 and s.application_id = scope.id and ${within(from, to)} order by s.id)
  union all
  (select s.*, coalesce(lead(s.application_number) over (order by s.application_number), scope.last_number + 1)
      - s.application_number as stands_for
    from (
      select distinct on (s.application_number) s.*
      from generate_series(0, scope.sends / step.k) n cross join lateral (
        select s.* from sends s where s.application_id = scope.id
          and s.id >= first_id_at(${from}::timestamptz + n * (${to}::timestamptz - ${from}::timestamptz) / (scope.sends / step.k + 1))
          and ${within(from, to)}
        order by s.id limit 1
      ) s
    ) s where step.k > 1)`;

function buildOverview(starts: readonly Date[], read: OpenSends, counted: readonly CountedDays[]): Overview {
  const series = starts.map((): number[] => []);
  const cells = new Map<string, Cell & { counts: number[] }>();
  const add = ({ application, country, locale }: Cell, bucket: number, counts: readonly number[]): void => {
    const key = `${application} ${country} ${locale}`;
    const cell = cells.get(key) ?? { application, country, locale, counts: [] };
    cells.set(key, cell);
    addCounts(cell.counts, counts);
    addCounts(series[bucket]!, counts);
  };
  for (const row of read.sends ?? []) {
    const times = countTimes(row.delivery_times ?? []).map((count) => count * Number(read.k));
    // Clocks differ, so a send's time may be before the first bucket although its id is within it.
    add(row, Math.max(0, row.bucket - 1), [...row.counts, ...times]);
  }
  const bucketAt = new Map<number, number>();
  for (const cell of counted)
    for (const row of JSON.parse(`[${cell.days.replaceAll('{', '[').replaceAll('}', ']')}]`) as number[][]) {
      const day = row[0]!;
      const noon = (day + 0.5) * DAY_MS;
      const bucket = bucketAt.get(day) ?? starts.findLastIndex((start) => start.getTime() <= noon);
      bucketAt.set(day, bucket);
      add(cell, bucket, row.slice(1));
    }

  const groups = (by: (cell: Cell) => string): [string, number[]][] => {
    const found = new Map<string, number[]>();
    for (const cell of cells.values()) {
      const counts = found.get(by(cell)) ?? [];
      found.set(by(cell), counts);
      addCounts(counts, cell.counts);
    }
    // The order of equal counts must not depend on when a day was aggregated.
    return [...found].toSorted(([one, [a]], [other, [b]]) => b! - a! || (one < other ? -1 : 1));
  };
  const total = groups(() => '')[0]?.[1] ?? [];
  return {
    sampled: read.k === 1n ? null : Number(read.k),
    totals: toStatistics(total),
    series: series.map((counts, n) => ({ start: starts[n]!, ...toStatistics(counts) })),
    applications: groups(({ application }) => application).map(([applicationId, counts]) => {
      const { name, mode } = read.applications.find(({ id }) => id === applicationId)!;
      return { applicationId, name, mode, ...toStatistics(counts) };
    }),
    locales: groups(({ locale }) => locale).map(([locale, counts]) => ({
      locale: locale as Locale,
      ...toStatistics(counts),
    })),
    countries: groups(({ country }) => country).map(([country, counts]) => ({
      country,
      ...toStatistics(counts),
    })),
    failures: FAILURE_REASONS.map((reason) => ({ reason, sends: total[SHOWN.indexOf(reason)] ?? 0 }))
      .filter(({ sends }) => sends > 0)
      .toSorted((a, b) => b.sends - a.sends),
    failedVerified: total[SHOWN.indexOf('failed_verified')] ?? 0,
  };
}

function toStatistics(counts: readonly number[]): SendStatistics {
  const [sends = 0, delivered = 0, verified = 0, _failedVerified, undelivered = 0, ...failures] =
    counts.slice(0, SHOWN.length);
  const times = counts.slice(SHOWN.length);
  const failed = failures.reduce((sum, count) => sum + count, 0);
  const toShare = (part: number, of = sends): number | null => (of === 0 ? null : part / of);
  return {
    sends,
    delivered,
    verified,
    failed,
    undelivered,
    deliveredShare: toShare(delivered),
    verifiedShare: toShare(verified),
    failedShare: toShare(failed),
    undeliveredShare: toShare(undelivered, delivered + undelivered),
    deliverySecondsMedian: secondsWithin(0.5, times),
    deliverySecondsP95: secondsWithin(0.95, times),
  };
}
