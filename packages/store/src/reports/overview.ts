import { NO_COUNTRY, type FailureReason, type Locale, type Mode } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { firstIdAt } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { refusedBy } from '../client/sql.js';

/** The sends that an overview covers, and its buckets. */
export interface OverviewQuestion {
  /** Inclusive; `to` is exclusive. */
  from: Date;
  to: Date;
  applicationId?: string;
  /** Left out: both. */
  mode?: Mode;
  locale?: Locale;
  bucket: 'hour' | 'day';
  /** An IANA name: decides when days and hours begin. */
  timeZone: string;
}

/** PostgreSQL does not know the time zone. */
export class UnknownTimeZone extends Error {}

/** Its SQLSTATE, `invalid_parameter_value`, which no other refusal of an overview has. */
const UNKNOWN_TIME_ZONE = '22023';

/** What became of sends. Shares are of `sends`, 0 to 1, and null without any; times are null without a delivery. */
export interface SendStatistics {
  sends: number;
  delivered: number;
  verified: number;
  failed: number;
  deliveredShare: number | null;
  verifiedShare: number | null;
  failedShare: number | null;
  /** Seconds from the creation to the delivery. */
  deliverySecondsMedian: number | null;
  deliverySecondsP95: number | null;
}

export interface Overview {
  /** One send in this many was read; null: all were. */
  sampled: number | null;
  totals: SendStatistics;
  /** Each hour or day of the span, without gaps; the first and the last may be partial. */
  series: (SendStatistics & { start: Date })[];
  /** The applications with sends, most sends first. */
  applications: (SendStatistics & { applicationId: string; name: string; mode: Mode })[];
  locales: (SendStatistics & { locale: Locale })[];
  /** The countries with sends (`NO_COUNTRY` for numbers of none), most sends first. */
  countries: (SendStatistics & { country: string })[];
  /** Why sends failed, the most frequent reason first. */
  failures: { reason: FailureReason; sends: number }[];
}

/** Up to this many sends are all read, in one walk along the index. */
const ALL_MAX = 40_000;
/** Of more sends, this many at the most are read, one in k, each by a look-up: no overview takes longer than one of `ALL_MAX` sends. */
const SAMPLE_MAX = 20_000;
const BUCKETS_MAX = 1_000;
const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/**
 * The statistics of an account's sends of a span. The number of sends follows from their numbers in their applications and is exact,
 * except within a locale. Of more than `ALL_MAX` sends, the first of each of many equal spans stands for all in it: a bucket's count is
 * exact to within one such span, and shares and times to within a percent.
 *
 * @throws RangeError for more than a thousand buckets
 * @throws UnknownTimeZone
 */
export async function overview(
  database: Database,
  accountId: string,
  question: OverviewQuestion,
): Promise<Overview> {
  const { from, to, bucket, timeZone, applicationId, mode, locale } = question;
  if ((to.getTime() - from.getTime()) / BUCKET_MS[bucket] > BUCKETS_MAX)
    throw new RangeError(`an overview has ${BUCKETS_MAX} buckets at the most`);
  const isWanted = Prisma.sql`${applicationId === undefined ? Prisma.empty : Prisma.sql`and a.id = ${applicationId}::uuid`}
    ${mode === undefined ? Prisma.empty : Prisma.sql`and a.mode = ${mode}`}`;
  const [row] = await database.sql.query<[OverviewRow]>`
    with range as materialized (
      select array(${starts(bucket, from, to, timeZone)}) as starts
    ), scope as materialized (
      select a.id, a.name, a.mode, coalesce(last.application_number - first.application_number + 1, 0) as sends,
        last.application_number as last_number
      from applications a
      left join lateral (${edge('asc', from, to)}) first on true
      left join lateral (${edge('desc', from, to)}) last on true
      where a.account_id = ${accountId}::uuid ${isWanted}
    ), step as materialized (
      select case when sum(sends) > ${ALL_MAX} then ceil(sum(sends) / ${SAMPLE_MAX}) else 1 end::bigint as k from scope
    ), seen as (
      select width_bucket(s.created_at, range.starts) as bucket, scope.id as application, s.locale collate "C" as locale,
        coalesce(s.country, ${NO_COUNTRY}) as country, s.failure_reason as reason, s.stands_for,
        s.delivered_at is not null or s.status in ('delivered', 'read') as is_delivered,
        s.verification = 'verified' as is_verified, s.status = 'failed' as has_failed,
        extract(epoch from s.delivered_at - s.created_at)::float8 as seconds
      from range, step, scope cross join lateral (${read(from, to)}) s
      where ${locale === undefined ? Prisma.sql`true` : Prisma.sql`s.locale = ${locale}`}
    ), statistics as (
      select bucket, application, locale, country, reason, grouping(bucket, application, locale, country, reason) as kind,
        coalesce(sum(stands_for), 0) as sends,
        coalesce(sum(stands_for) filter (where is_delivered), 0) as delivered,
        coalesce(sum(stands_for) filter (where is_verified), 0) as verified,
        coalesce(sum(stands_for) filter (where has_failed), 0) as failed,
        percentile_cont(array[0.5, 0.95]) within group (order by seconds) as seconds
      from seen group by grouping sets ((), (bucket), (application), (locale), (country), (reason))
    )
    select range.starts, step.k, (
      select jsonb_agg(to_jsonb(f) || jsonb_build_object('name', scope.name, 'mode', scope.mode) order by f.sends desc)
      from statistics f left join scope on scope.id = f.application
    ) as groups
    from range, step`.catch((error: unknown) => {
    throw refusedBy(error)?.code === UNKNOWN_TIME_ZONE ? new UnknownTimeZone() : error;
  });
  return overviewOf(row);
}

/** The oldest or newest send of an application `a` in the span. */
const edge = (order: 'asc' | 'desc', from: Date, to: Date): Prisma.Sql => Prisma.sql`
  select s.application_number from sends s where s.application_id = a.id and ${within(from, to)} order by s.id ${Prisma.raw(order)} limit 1`;

/** By the time of the request, which the id of a send `s` begins with: the index is in its order. */
const within = (from: Date, to: Date): Prisma.Sql =>
  Prisma.sql`s.id >= ${firstIdAt(from)}::uuid and s.id < ${firstIdAt(to)}::uuid`;

/**
 * The sends of an application `scope`: all of them, or the first of each of as many equal spans as there are to be samples, each for as
 * many as follow until the next. Not joins: each part is a walk along the index.
 */
const read = (from: Date, to: Date): Prisma.Sql => Prisma.sql`
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

/** When the buckets begin. Days follow local time, since they are not all of one length. */
function starts(bucket: 'hour' | 'day', from: Date, to: Date, timeZone: string): Prisma.Sql {
  return bucket === 'hour'
    ? Prisma.sql`
        select t from generate_series(date_trunc('hour', ${from}::timestamptz, ${timeZone}), ${to}::timestamptz, interval '1 hour') t
        where t < ${to}::timestamptz order by t`
    : Prisma.sql`
        select t at time zone ${timeZone} from generate_series(date_trunc('day', ${from}::timestamptz at time zone ${timeZone}),
          ${to}::timestamptz at time zone ${timeZone}, interval '1 day') t
        where t at time zone ${timeZone} < ${to}::timestamptz order by t`;
}

/** What the rows of a group share, as `grouping` numbers it: each of its columns by which they are not grouped is a bit. */
const KINDS = {
  total: 0b11111,
  bucket: 0b01111,
  application: 0b10111,
  locale: 0b11011,
  country: 0b11101,
  reason: 0b11110,
};

interface Group {
  kind: number;
  bucket: number;
  application: string;
  locale: Locale;
  country: string;
  /** Null for the sends that did not fail. */
  reason: FailureReason | null;
  name: string;
  mode: Mode;
  sends: number;
  delivered: number;
  verified: number;
  failed: number;
  seconds: [number | null, number | null] | null;
}

interface OverviewRow {
  starts: Date[];
  k: bigint;
  groups: Group[];
}

function overviewOf({ starts: begins, k, groups }: OverviewRow): Overview {
  const of = (kind: keyof typeof KINDS): Group[] => groups.filter((group) => group.kind === KINDS[kind]);
  const ofBucket = new Map(of('bucket').map((group) => [group.bucket, group]));
  return {
    sampled: k === 1n ? null : Number(k),
    totals: statisticsOf(of('total')[0]),
    series: begins.map((start, n) => ({ start, ...statisticsOf(ofBucket.get(n + 1)) })),
    applications: of('application').map((group) => ({
      applicationId: group.application,
      name: group.name,
      mode: group.mode,
      ...statisticsOf(group),
    })),
    locales: of('locale').map((group) => ({ locale: group.locale, ...statisticsOf(group) })),
    countries: of('country').map((group) => ({ country: group.country, ...statisticsOf(group) })),
    failures: of('reason').flatMap(({ reason, sends }) => (reason === null ? [] : [{ reason, sends }])),
  };
}

function statisticsOf(group: Group | undefined): SendStatistics {
  const { sends = 0, delivered = 0, verified = 0, failed = 0, seconds = null } = group ?? {};
  const shareOf = (part: number): number | null => (sends === 0 ? null : part / sends);
  return {
    sends,
    delivered,
    verified,
    failed,
    deliveredShare: shareOf(delivered),
    verifiedShare: shareOf(verified),
    failedShare: shareOf(failed),
    deliverySecondsMedian: seconds?.[0] ?? null,
    deliverySecondsP95: seconds?.[1] ?? null,
  };
}
