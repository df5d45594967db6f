import type { BreakerEvidence, BreakerRule } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { writeMails } from '../mails/writeMails.js';

/** The maximum number of an account's latest live sends of a day that the breaker judges. */
const SENDS_MAX = 1_000;
/** People who have not verified a code within this time are assumed never to do so. */
const VERIFIED_WITHIN_SECONDS = 120;
/** A code sent later than this after its request counts only if it was verified: the person may have given up or requested another. */
const SENT_WITHIN_SECONDS = 60;

/**
 * Returns SQL for the sends that the breaker judges: the latest live sends of an account in the day before a time, without failed sends and
 * without those that people had no time to verify. A send that was sent late counts only if it was verified, so that an outage of the
 * service cannot trip a breaker.
 */
export const judgedSends = (accountId: Prisma.Sql, at: Prisma.Sql): Prisma.Sql => Prisma.sql`
  select s.* from applications p cross join lateral (
    select s.* from sends s
    where s.application_id = p.id and s.id >= first_id_at(${at} - interval '1 day')
      and s.id < first_id_at(${at} - make_interval(secs => ${VERIFIED_WITHIN_SECONDS}))
    order by s.id desc limit ${SENDS_MAX}::integer
  ) s
  where p.account_id = ${accountId} and p.mode = 'live' and s.status <> 'failed' and (
    s.verification = 'verified' or s.sent_at <= s.created_at + make_interval(secs => ${SENT_WITHIN_SECONDS})
  )
  order by s.id desc limit ${SENDS_MAX}::integer`;

/** How long a trip blocks a country. */
const BLOCK_SECONDS = 3_600;

export interface CountryEvidence extends BreakerEvidence {
  accountId: string;
  country: string;
  rule: BreakerRule;
}

/** Returns the evidence about every account that uses the breaker. After a trip, only sends after the end of its block count. */
export async function readBreakerEvidence(database: Database): Promise<CountryEvidence[]> {
  return database.sql.query<CountryEvidence[]>`
    select a.id as "accountId", e.*,
      jsonb_build_object('unverifiedPercent', a.breaker_unverified_percent, 'minSends', a.breaker_min_sends) as rule
    from accounts a cross join lateral (
      select s.country, count(*)::integer as sends,
        (count(*) filter (where s.verification <> 'verified' or s.denied_at is not null))::integer as unverified
      from (${judgedSends(Prisma.sql`a.id`, Prisma.sql`statement_timestamp()`)}) s
      left join breaker_trips t on t.account_id = a.id and t.country = s.country
      where t.open_until is null or s.created_at > t.open_until
      group by 1
    ) e
    where a.breaker_unverified_percent is not null`;
}

/**
 * Blocks an account's sends to a country for an hour, and mails its admins. Does nothing if the country is already blocked, because all
 * workers see the same evidence.
 *
 * @returns whether this call started the block
 */
export async function tripBreaker(database: Database, evidence: CountryEvidence): Promise<boolean> {
  return database.transaction(async (connection) => {
    const { accountId, country, sends, unverified } = evidence;
    const [trip] = await connection.sql.query<{ openUntil: Date }[]>`
      insert into breaker_trips as t (account_id, country, tripped_at, open_until, sends, unverified)
      select id, ${country}, clock_timestamp(), clock_timestamp() + make_interval(secs => ${BLOCK_SECONDS}), ${sends}::integer,
        ${unverified}::integer
      from accounts where id = ${accountId}::uuid and breaker_unverified_percent is not null
      on conflict (account_id, country) do update set tripped_at = excluded.tripped_at, open_until = excluded.open_until,
        sends = excluded.sends, unverified = excluded.unverified
      where t.open_until <= clock_timestamp()
      returning open_until as "openUntil"`;
    if (trip === undefined) return false;
    const until = trip.openUntil.toISOString();
    const event = `breaker_tripped ${accountId} ${country} ${until}`;
    const facts = { country, sends, unverified, until };
    await writeMails(connection, { kind: 'breaker_tripped', event, facts }, { adminsOf: accountId });
    return true;
  });
}
