import {
  ENDED_CODE_SECONDS,
  GUESSES_MAX,
  timesOfMinute,
  type CreationState,
  type NewSend,
  type SendTimes,
} from '@onecode/domain';
import { byOrdinal, type WithOrdinal } from '../client/batcher.js';
import type { Connection } from '../client/database.js';
import { KEY_STATE } from '../accounts/apiKeys.js';
import { Prisma } from '../generated/prisma/client.js';
import { chargedPoints, guessPointsMax } from './guessBudgets.js';

/** SQL for a time in milliseconds since 1970. */
const ms = (time: string): Prisma.Sql => Prisma.raw(`round(date_part('epoch', ${time}) * 1000)`);

/** SQL for whether a request `r` is the first of its account or application in the batch. Requests of deleted applications have no row. */
const isFirstOf = (id: 'account_id' | 'application_id'): Prisma.Sql =>
  Prisma.raw(`row_number() over (partition by r.${id} order by r.ordinal) = 1`);

/** The latest sends to the recipient of the request `r` by its application `p` in the hour before `t.now`. */
const RECIPIENT_TIMES = Prisma.sql`(
  select json_agg(${ms('l.created_at')} order by l.created_at) from (
    -- "is true" prevents the use of the index by application.
    select created_at from sends where account_id = r.account_id and mode = p.mode and recipient_key = r.recipient_key
      and (application_id = r.application_id) is true
      -- A time after now was recorded before the clock stepped back, and counts. One that is more than an hour ahead is ignored, because it
      -- would block the recipient for more than two hours.
      and created_at > t.now - interval '1 hour' and created_at < t.now + interval '1 hour'
    order by created_at desc limit p.per_recipient_hour
  ) l
)`;

/** When the breaker's block of the country of the request `r` ends. */
const BREAKER_UNTIL = Prisma.sql`(
  select ${ms('open_until')} from breaker_trips
  where account_id = r.account_id and country = r.country and open_until > t.now and not exists (
    -- A number that has verified a code before is not a sign of traffic pumping.
    select from sends where account_id = r.account_id and mode = 'live' and recipient_key = r.recipient_key
      and verification = 'verified' order by created_at desc limit 1
  ) limit 1
)`;

/** The latest live sends of the account of the request `r` in the day before `t.now`, ten at most. */
const TRIAL_SENDS = Prisma.sql`(
  select json_build_object('count', count(*), 'rejected', count(*) filter (where l.failure_reason = 'rejected_by_provider'),
    'lastAt', ${ms('max(l.created_at)')})
  from (
    select s.created_at, s.failure_reason from applications q cross join lateral (
      select created_at, failure_reason from sends where application_id = q.id and id >= first_id_at(t.now - interval '1 day')
      order by id desc limit 10
    ) s where q.account_id = r.account_id and q.mode = 'live' order by s.created_at desc limit 10
  ) l having count(*) > 0
)`;

/** The active live codes of the recipient of the request `r`. */
const ACTIVE_CODES = Prisma.sql`(
  select max(l.guess_cost) as guess_cost, json_agg(json_build_array(${ms('l.expires_at')}, (${GUESSES_MAX}::integer - l.wrong_guesses) * l.guess_cost)) as codes from (
    -- No code is valid for more than 90 minutes. The order makes PostgreSQL use the index by recipient, even while there are few sends.
    select expires_at, guess_cost::integer, coalesce(cardinality(wrong_guess_times), 0) as wrong_guesses from sends
    where p.mode = 'live' and account_id = r.account_id and mode = 'live' and recipient_key = r.recipient_key
      and created_at > t.now - interval '91 minutes' and expires_at > t.now - make_interval(secs => ${ENDED_CODE_SECONDS})
      and verification = 'pending'
    order by created_at desc
  ) l
)`;

/** A row of the read. Times are expensive to read, so only the first row of an account or application has them. */
type StateRow = Omit<CreationState, 'accountTimes' | 'applicationTimes'> & {
  accountTimes: SendTimes | null;
  applicationTimes: SendTimes | null;
};

/** Returns the states of requests: their rows with the times of their account and application. */
function completeStates(
  sends: readonly NewSend[],
  rows: readonly (StateRow | undefined)[],
): (CreationState | undefined)[] {
  /** By the id of the account or application. */
  const timesOf = new Map<string, SendTimes>();
  return rows.map((row, index) => {
    if (row === undefined) return undefined;
    const { accountId, applicationId } = sends[index] as NewSend;
    const { accountTimes, applicationTimes, now } = row;
    if (accountTimes !== null) timesOf.set(accountId, timesOfMinute(accountTimes, now));
    if (applicationTimes !== null) timesOf.set(applicationId, timesOfMinute(applicationTimes, now));
    return Object.assign(row, {
      accountTimes: timesOf.get(accountId) as SendTimes,
      applicationTimes: timesOf.get(applicationId) as SendTimes,
    });
  });
}

/**
 * Reads what the creations of a batch depend on, in one snapshot. Most requests have no idempotency key, no limit per recipient, no trial
 * and no breaker: the data for these is read only for requests that need it.
 *
 * @returns the state of each request; undefined if its application was deleted
 */
export async function readCreations(
  { sql }: Pick<Connection, 'sql'>,
  sends: readonly NewSend[],
): Promise<(CreationState | undefined)[]> {
  const records = sends.map((send, index) => ({
    ordinal: index + 1,
    key_id: send.keyId,
    account_id: send.accountId,
    application_id: send.applicationId,
    idempotency_key: send.idempotency && `\\x${send.idempotency.key}`,
    body_hashes: send.idempotency?.bodyHashes.map((hash) => `\\x${hash}`),
    recipient_key: send.recipientKey,
    country: send.country,
    locale: send.locale,
    guess_cost: send.guessCost,
  }));
  const rows = await sql.read<WithOrdinal<StateRow>[]>`
    with clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now)
    select r.ordinal, ${ms('t.now')} as now, s.earlier, p.mode, o.language, c.code_validity_seconds as "codeValiditySeconds",
      coalesce((select ${KEY_STATE} from api_keys k where k.id = r.key_id limit 1), 'revoked') as "keyState",
      -- The recipients that the account may send to.
      o.allowed_countries as "allowedCountries", o.allows_premium_rate as "allowsPremiumRate",
      case when p.mode = 'live' then o.trial_countries end as "trialCountries",
      -- The limits per minute.
      coalesce(o.rate_per_minute, c.account_rate_per_minute) as "accountRate", o.sends_created::float8 as "accountSends",
      case when ${isFirstOf('account_id')} then o.minute_sends end as "accountTimes",
      p.per_minute as "applicationRate", p.sends_created::float8 as "applicationSends",
      case when ${isFirstOf('application_id')} then p.minute_sends end as "applicationTimes",
      -- The limits of the recipient: sends per hour, guess budget, active codes, and the breaker's block of the country.
      p.per_recipient_hour as "recipientRate", case when p.per_recipient_hour is not null then ${RECIPIENT_TIMES} end as "recipientTimes",
      case when p.mode = 'live' then ${guessPointsMax(Prisma.sql`greatest(r.guess_cost, b.guess_cost, g.guess_cost)`)} end as "guessPointsMax",
      b.points as "wrongPoints", g.codes as "activeCodes",
      case when p.mode = 'live' and o.breaker_unverified_percent is not null then ${BREAKER_UNTIL} end as "breakerUntil",
      -- The ceilings of units.
      o.units_per_day as "unitsPerDay", o.units_per_month as "unitsPerMonth",
      case when o.units_on = d.today then o.units_of_day else 0 end as "unitsOfDay",
      case when date_trunc('month', o.units_on::timestamp) = date_trunc('month', d.today::timestamp) then o.units_of_month else 0 end as "unitsOfMonth",
      -- The limits of a trial.
      c.trial_sends_per_day as "trialSendsPerDay", case when c.trial_sends_on = d.today then c.trial_sends_of_day else 0 end as "trialSendsOfDay",
      c.trial_account_sends_per_day as "trialAccountSendsPerDay", case when p.mode = 'live' and o.trial_countries is not null then ${TRIAL_SENDS} end as "trialSends",
      -- The units left, and whether a new send has to wait for a turn.
      o.free_quota as "freeQuota", o.credits,
      -- Not "exists", which a plan may replace by a scan of all waiting sends.
      p.mode = 'live' and (
        select true from sends w where w.is_waiting and w.account_id = r.account_id and w.application_id = r.application_id
          and w.country = r.country and w.locale = coalesce(r.locale, o.language) limit 1
      ) is not null as "othersWait"
    from clock t cross join settings c cross join lateral (select (t.now at time zone 'UTC')::date as today) d
    cross join json_to_recordset(${JSON.stringify(records)}::json) as r (
      ordinal bigint, key_id uuid, account_id uuid, application_id uuid, idempotency_key bytea, body_hashes bytea[], recipient_key text,
      country text, locale text, guess_cost integer
    )
    cross join lateral (select * from accounts where id = r.account_id limit 1) o
    cross join lateral (select * from applications where id = r.application_id and (account_id = r.account_id) is true limit 1) p
    left join lateral (
      select json_build_object('id', id, 'isRepeat', body_hash = any(r.body_hashes)) as earlier
      from sends where application_id = r.application_id and idempotency_key = r.idempotency_key limit 1
    ) s on true
    left join lateral (
      select guess_cost, ${chargedPoints(Prisma.sql`t.now`)} as points from guess_budgets b
      where p.mode = 'live' and account_id = r.account_id and recipient_key = r.recipient_key limit 1
    ) b on true
    cross join lateral ${ACTIVE_CODES} g`;
  return completeStates(sends, byOrdinal(sends, rows));
}
