import type { BreakerEvidence, BreakerRule } from '@onecode/domain';
import type { Actor } from '../audit/audit.js';
import { changeAbuseControls, type AbuseControls } from './abuseControls.js';
import type { Connection, Database } from '../client/database.js';

/** What an account's breaker is judged by: its latest live sends of a day, at most so many. */
const SENDS_MAX = 1_000;
/** People verify within this, or not at all. */
const VERIFIED_WITHIN_SECONDS = 120;
/** A code that left us later proves nothing: the person has asked for another one, or gone. */
const SENT_WITHIN_SECONDS = 60;

/** The evidence on one account and country. */
export interface CountryEvidence extends BreakerEvidence {
  accountId: string;
  /** `ZZ` for numbers of no country. */
  country: string;
  rule: BreakerRule;
  /** When the last trip ended; only sends after it count. */
  lastOpenUntil: Date | null;
}

/** Sets an account's breaker, or turns it off and lets all its countries go. @returns as `findAbuseControls` */
export async function setBreaker(
  database: Database,
  actor: Actor,
  accountId: string,
  rule: BreakerRule | null,
): Promise<AbuseControls | null> {
  return changeAbuseControls(database, actor, 'account.set_breaker', accountId, async (connection) => {
    await connection.$executeRaw`
      update accounts set breaker_unverified_percent = ${rule?.unverifiedPercent ?? null}::integer,
        breaker_min_sends = ${rule?.minSends ?? null}::integer
      where id = ${accountId}::uuid`;
    if (rule === null) await endTrips(connection, accountId);
  });
}

/** Lets an account send to all countries again; it takes new evidence to stop it. @returns as `findAbuseControls` */
export async function resetBreaker(
  database: Database,
  actor: Actor,
  accountId: string,
): Promise<AbuseControls | null> {
  return changeAbuseControls(database, actor, 'account.reset_breaker', accountId, (connection) =>
    endTrips(connection, accountId),
  );
}

async function endTrips(connection: Connection, accountId: string): Promise<void> {
  await connection.$executeRaw`
    update breaker_trips set open_until = clock_timestamp()
    where account_id = ${accountId}::uuid and open_until > clock_timestamp()`;
}

/**
 * The evidence on every account that has its breaker on. Counts sends that had the time to be verified and did not fail; one
 * that left us late counts only when it was verified after all, so that an outage of ours stops nobody. The sends are bounded
 * by their numbers: those of two minutes, which are too young, cannot be more than twice the account's rate.
 */
export async function readBreakerEvidence(database: Database): Promise<CountryEvidence[]> {
  const rows = await database.$queryRaw<(BreakerRule & Omit<CountryEvidence, 'rule'>)[]>`
    select a.id as "accountId", e.country, e.sends, e.unverified, e.open_until as "lastOpenUntil",
      a.breaker_unverified_percent as "unverifiedPercent", a.breaker_min_sends as "minSends"
    from accounts a cross join settings cross join lateral (
      select coalesce(l.country, 'ZZ') as country, t.open_until, count(*)::integer as sends,
        (count(*) filter (where l.verification <> 'verified'))::integer as unverified
      from (
        select s.country, s.status, s.verification, s.created_at, s.sent_at from sends s
        where s.account_id = a.id and s.mode = 'live'
          and s.account_number > a.sends_created - ${SENDS_MAX}::integer
            - 2 * coalesce(a.rate_per_minute, settings.account_rate_per_minute)
          and s.created_at > statement_timestamp() - interval '1 day'
          and least(s.created_at + make_interval(secs => ${VERIFIED_WITHIN_SECONDS}), s.expires_at) <= statement_timestamp()
        order by s.account_number desc limit ${SENDS_MAX}::integer
      ) l
      left join breaker_trips t on t.account_id = a.id and t.country = coalesce(l.country, 'ZZ')
      where l.status <> 'failed'
        and (l.verification = 'verified' or l.sent_at <= l.created_at + make_interval(secs => ${SENT_WITHIN_SECONDS}))
        and (t.open_until is null or l.created_at > t.open_until)
      group by 1, 2
    ) e
    where a.breaker_unverified_percent is not null`;
  return rows.map(({ unverifiedPercent, minSends, ...evidence }) => ({
    ...evidence,
    rule: { unverifiedPercent, minSends },
  }));
}

/**
 * Keeps an account from a country for a time. Of several that judge the same evidence one does it, and evidence from before a
 * reset does nothing.
 *
 * @returns whether this call did
 */
export async function tripBreaker(
  database: Database,
  evidence: CountryEvidence,
  seconds: number,
): Promise<boolean> {
  const written = await database.$executeRaw`
    insert into breaker_trips as t (account_id, country, tripped_at, open_until, sends, unverified)
    select id, ${evidence.country}, clock_timestamp(), clock_timestamp() + make_interval(secs => ${seconds}),
      ${evidence.sends}::integer, ${evidence.unverified}::integer
    from accounts where id = ${evidence.accountId}::uuid and breaker_unverified_percent is not null
    on conflict (account_id, country) do update set tripped_at = excluded.tripped_at, open_until = excluded.open_until,
      sends = excluded.sends, unverified = excluded.unverified
    where t.open_until = ${evidence.lastOpenUntil}::timestamptz`;
  return written === 1;
}
