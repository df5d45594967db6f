import type { Locale } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { listMemberships } from '../users/members.js';
import { insertAccount } from './accounts.js';
import { insertApiKey } from './apiKeys.js';
import { insertApplication } from './applications.js';

export interface NewOwnAccount {
  name: string;
  language: Locale;
  /** Where it may send: ISO 3166 codes, in order and each once. Its admins change that once it is on trial no longer. */
  countries: readonly string[];
  /** What the test application is called that it begins with, and the key of that. */
  names: { application: string; key: string };
}

/** The test application of a new account, and its key, which is in this answer and nowhere else. */
export interface FirstApplication {
  applicationId: string;
  key: string;
}

type OwnAccount =
  { kind: 'member'; accountId: string; first: FirstApplication | null } | { kind: 'made_before' | 'unknown' };

/**
 * Creates a trial account for a person who belongs to no account, with the free sends of the setting, a test application and its
 * key; the person becomes its admin. Who belongs to an account already gets that one, without a key, so that a repeated or doubled request
 * creates no second account.
 *
 * @returns `made_before` for a person who created one and left it, since everybody gets the free sends once; `unknown` when there is
 * no such person
 */
export async function createOwnAccount(
  database: Database,
  actor: Actor & { id: string },
  { name, language, countries, names }: NewOwnAccount,
): Promise<OwnAccount> {
  return audited<OwnAccount>(database, actor, async (connection, log) => {
    // The lock lets one request of a person go on at a time; the next one sees what it created.
    const [person] = await connection.sql.query<{ accountMadeAt: Date | null }[]>`
      select account_made_at as "accountMadeAt" from users where id = ${actor.id}::uuid for no key update`;
    if (person === undefined) return { kind: 'unknown' };
    const [existing] = await listMemberships(connection, actor.id);
    if (existing !== undefined) return { kind: 'member', accountId: existing.accountId, first: null };
    if (person.accountMadeAt !== null) return { kind: 'made_before' };
    const account = { name, language, freeQuota: null, credits: 0, ratePerMinute: null };
    const { id, freeQuota, credits } = await insertAccount(connection, account, countries);
    await connection.prisma.member.create({ data: { accountId: id, userId: actor.id, role: 'admin' } });
    await connection.sql
      .execute`update users set account_made_at = clock_timestamp() where id = ${actor.id}::uuid`;
    const after = { name, language, freeQuota, credits, ratePerMinute: null, trialCountries: countries };
    await log({ action: 'account.create', accountId: id, subject: id, details: { after } });
    const wanted = { accountId: id, name: names.application, mode: 'test' } as const;
    const { id: applicationId } = await insertApplication(connection, log, wanted);
    const made = await insertApiKey(connection, actor, applicationId, { name: names.key, visit: null });
    return { kind: 'member', accountId: id, first: made && { applicationId, key: made.key } };
  });
}

/** Whether a person belongs to no account and has never created one. */
export async function mayCreateAccount(database: Connection, userId: string): Promise<boolean> {
  const where = { id: userId, accountMadeAt: null, members: { none: {} } };
  return (await database.prisma.user.findFirst({ where, select: { id: true } })) !== null;
}

/** What all trial accounts used up together of the live sends that they share a day. */
export interface TrialSends {
  /** Today (UTC), as `2026-11-23`. */
  day: string;
  sends: number;
  /** The setting. */
  perDay: number;
}

/** What trial accounts sent today, and may send in a day. */
export async function readTrialSends(database: Connection): Promise<TrialSends> {
  const [row] = await database.sql.query<[TrialSends]>`
    select today::text as day, case when trial_sends_on = today then trial_sends_of_day else 0 end as sends,
      trial_sends_per_day as "perDay"
    from settings, (select (now() at time zone 'UTC')::date as today)`;
  return row;
}

export interface LiveCountries {
  /** ISO 3166 codes; null: every country. */
  countries: string[] | null;
  /** Whether numbers that cost far more than others are refused. On trial they always are. */
  refusesPremiumRate: boolean;
}

/** Where an account's live sends may go, or null when there is no such account. */
export async function readLiveCountries(
  database: Connection,
  accountId: string,
): Promise<LiveCountries | null> {
  const [row] = await database.sql.query<LiveCountries[]>`
    select trial_countries is not null or not allows_premium_rate as "refusesPremiumRate", case
      when trial_countries is null then allowed_countries
      when allowed_countries is null then trial_countries
      else array(select unnest(trial_countries) intersect select unnest(allowed_countries) order by 1)
    end as countries
    from accounts where id = ${accountId}::uuid`;
  return row ?? null;
}
