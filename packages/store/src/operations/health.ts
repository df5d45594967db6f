import {
  NO_BACKLOG,
  type AttemptOutcome,
  type Backlog,
  type BacklogName,
  type OwnBacklog,
} from '@onecode/domain';
import type { Connection } from '../client/database.js';

/**
 * The unfinished sends by what they wait for. `forSender` excludes accounts that use only their own senders. A send that gets no other call,
 * because its code was verified or locked or is about to expire, waits for no sender: until it is due, it is `underWay`.
 */
export type WaitingSends = Record<BacklogName, Backlog>;

/**
 * Counts the waiting sends and how long they have waited. Reads every unfinished send, of which there are few in normal operation.
 *
 * @returns in `own`, the sends that wait for their accounts' own senders, by account, oldest first
 */
export async function readWaitingSends(
  database: Connection,
): Promise<{ waiting: WaitingSends; own: OwnBacklog[] }> {
  const rows = await database.sql.query<
    (Backlog & { name: BacklogName; accountId: string | null; accountName: string | null })[]
  >`
    with now as materialized (select clock_timestamp() as at, array(select kind || ' ' || target from holds) as holds), open as materialized (
      select case
          when w.may_be_sent then case when is_held(now.holds, s.account_id, s.country) then 'held' else 'forSender' end
          when s.due_at <= now.at and coalesce(s.claimed_until <= now.at, true) then 'due'
          else 'underWay'
        end as name,
        greatest(
          0, extract(epoch from now.at - case when w.may_be_sent then s.created_at else greatest(s.due_at, s.claimed_until) end)
        )::float8 as seconds,
        greatest(0, extract(epoch from s.expires_at - now.at))::float8 as expiry, s.account_id
      from sends s cross join now
      cross join lateral (select s.is_waiting and is_worth_sending(s.created_at, s.expires_at, now.at) as may_be_sent) w
      where s.due_at is not null
    ), counted as (
      select name, account_id, count(*) as count, max(seconds) as seconds, min(expiry) as expiry from open group by name, account_id
    ), by_account as (
      select c.name, c.count, c.seconds, c.expiry, o.id as own_id, o.name as own_name,
        row_number() over (partition by c.name, o.id order by c.seconds desc) as nth
      from counted c left join accounts o on c.name = 'forSender' and o.id = c.account_id and o.senders = 'own'
    )
    select name, own_id as "accountId", own_name as "accountName", sum(count)::integer as count, max(seconds) as "oldestSeconds",
      max(seconds) filter (where nth > 1) as "othersSeconds", min(expiry) as "expirySeconds", count(*)::integer as accounts
    from by_account group by name, own_id, own_name order by "oldestSeconds" desc`;
  const backlogs = rows.map(
    ({ name, accountId: id, accountName, ...waiting }) =>
      ({ name, waiting, account: id === null ? null : { id, name: accountName ?? '' } }) as const,
  );
  return {
    waiting: {
      due: NO_BACKLOG,
      forSender: NO_BACKLOG,
      held: NO_BACKLOG,
      underWay: NO_BACKLOG,
      ...Object.fromEntries(
        backlogs.flatMap(({ name, waiting, account }) => (account === null ? [[name, waiting]] : [])),
      ),
    },
    own: backlogs.flatMap(({ waiting, account }) => (account === null ? [] : [{ account, waiting }])),
  };
}

/** The provider calls that ended in one minute, by outcome. */
export interface AttemptMinute {
  minute: Date;
  outcomes: Partial<Record<AttemptOutcome, number>>;
}

/** Returns the calls of the last minutes, oldest minute first, without gaps; the last minute is still running. */
export async function readAttemptMinutes(database: Connection, minutes: number): Promise<AttemptMinute[]> {
  return database.sql.query<AttemptMinute[]>`
    with counted as (
      select date_trunc('minute', a.finished_at) as minute, a.outcome, count(*)::integer as calls
      from attempts a
      where a.finished_at >= date_trunc('minute', statement_timestamp()) - make_interval(mins => ${minutes - 1}::integer)
      group by 1, 2
    )
    select minute, coalesce(jsonb_object_agg(c.outcome, c.calls) filter (where c.outcome is not null), '{}') as outcomes
    from generate_series(
      date_trunc('minute', statement_timestamp()) - make_interval(mins => ${minutes - 1}::integer), statement_timestamp(), interval '1 minute'
    ) minute left join counted c using (minute)
    group by minute order by minute`;
}

export interface ProviderAnswers {
  /** Calls that ended within the span. */
  calls: number;
  accepted: number;
  /** Failures of the provider itself, and calls that timed out. */
  failing: number;
  /** Rejections of our account, token or template. */
  config: number;
  /** Rejections of a sender. */
  sender: number;
  /** From the claim to the response, including up to half a second of waiting for the permit; null without a response. */
  secondsMedian: number | null;
  secondsP95: number | null;
  /** Seconds since the last call ended, at any time; null before the first. */
  idleSeconds: number | null;
}

/** Returns statistics of the provider's responses to calls that ended in the last minutes. */
export async function readProviderAnswers(database: Connection, minutes: number): Promise<ProviderAnswers> {
  const [row] = await database.sql.query<[ProviderAnswers & { seconds: [number, number] | null }]>`
    select count(*)::integer as calls, count(*) filter (where outcome = 'accepted')::integer as accepted,
      count(*) filter (where outcome in ('retry', 'unknown'))::integer as failing,
      count(*) filter (where outcome = 'config')::integer as config,
      count(*) filter (where outcome = 'sender')::integer as sender,
      (
        select extract(epoch from statement_timestamp() - l.finished_at)::float8 from attempts l
        where l.finished_at is not null order by l.finished_at desc limit 1
      ) as "idleSeconds",
      to_json(percentile_cont(array[0.5, 0.95]) within group (order by extract(epoch from finished_at - started_at)::float8))
        as seconds
    from attempts a where a.finished_at >= statement_timestamp() - make_interval(mins => ${minutes}::integer)`;
  const { seconds, ...counts } = row;
  return { ...counts, secondsMedian: seconds?.[0] ?? null, secondsP95: seconds?.[1] ?? null };
}

export interface ReceiptStatistics {
  /** Receipts applied within the last minute and the last ten. */
  lastMinute: number;
  lastTenMinutes: number;
  /** Due reports of the operator's Meta app. A backlog of an account's own app delays only that account. */
  due: number;
  /** How long the oldest due report has been due; null without one. */
  oldestDueSeconds: number | null;
}

/** Counts the applied and the due receipts. */
export async function readReceiptStatistics(database: Connection): Promise<ReceiptStatistics> {
  const [row] = await database.sql.query<[ReceiptStatistics]>`
    with received as (
      select coalesce(sum(count) filter (where began_at > statement_timestamp() - interval '1 minute'), 0)::integer as "lastMinute",
        coalesce(sum(count), 0)::integer as "lastTenMinutes"
      from traffic_counts where began_at > statement_timestamp() - interval '10 minutes' and starts_with(event, 'receipt_')
    ), waiting as (
      select count(*)::integer as due, extract(epoch from clock_timestamp() - min(due_at))::float8 as "oldestDueSeconds"
      from provider_reports where reporter is null and due_at <= statement_timestamp()
    )
    select * from received, waiting`;
  return row;
}

/** Returns the number of connections to the whole server, in all its databases, and its maximum. */
export async function readConnectionStatistics(
  database: Connection,
): Promise<{ used: number; most: number }> {
  const [row] = await database.sql.query<[{ used: number; most: number }]>`
    select sum(numbackends)::integer as used,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most
    from pg_stat_database`;
  return row;
}
