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
  /** The countries that it may send to: ISO 3166 codes, sorted, without duplicates. Its admins can change them after the trial. */
  countries: readonly string[];
  /** The names of its initial test application and of that application's key. */
  names: { application: string; key: string };
}

/** The test application of a new account, with its key, which only this response contains. */
export interface FirstApplication {
  applicationId: string;
  key: string;
}

type OwnAccount =
  { kind: 'member'; accountId: string; first: FirstApplication | null } | { kind: 'made_before' | 'unknown' };

/**
 * Creates a trial account for a person without an account, with the free sends of the setting, a test application and its key; the person
 * becomes its admin. A person who already has an account gets the existing one, without a key, so that a repeated or concurrent request
 * creates no second account.
 *
 * @returns `made_before` for a person who created an account and left it, because free sends are granted once per person; `unknown` if the
 * person does not exist
 */
export async function createOwnAccount(
  database: Database,
  actor: Actor & { id: string },
  { name, language, countries, names }: NewOwnAccount,
): Promise<OwnAccount> {
  return audited<OwnAccount>(database, actor, async (connection, log) => {
    // The lock serializes a person's requests, so that the next one sees the account that this one creates.
    const [person] = await connection.sql.query<{ accountMadeAt: Date | null }[]>`
      select account_made_at as "accountMadeAt" from users where id = ${actor.id}::uuid for no key update`;
    if (person === undefined) return { kind: 'unknown' };
    const [existing] = await listMemberships(connection, actor.id);
    if (existing !== undefined) return { kind: 'member', accountId: existing.accountId, first: null };
    if (person.accountMadeAt !== null) return { kind: 'made_before' };
    const account = { name, language, freeQuota: null, credits: 0, ratePerMinute: null };
    const { id } = await insertAccount(connection, log, account, countries);
    await connection.prisma.member.create({ data: { accountId: id, userId: actor.id, role: 'admin' } });
    await connection.sql
      .execute`update users set account_made_at = clock_timestamp() where id = ${actor.id}::uuid`;
    const wanted = { accountId: id, name: names.application, mode: 'test' } as const;
    const { id: applicationId } = await insertApplication(connection, log, wanted);
    const made = await insertApiKey(connection, actor, applicationId, { name: names.key });
    return { kind: 'member', accountId: id, first: made && { applicationId, key: made.key } };
  });
}

/** Returns whether a person belongs to no account and has never created one. */
export async function mayCreateAccount(database: Connection, userId: string): Promise<boolean> {
  const where = { id: userId, accountMadeAt: null, members: { none: {} } };
  return (await database.prisma.user.findFirst({ where, select: { id: true } })) !== null;
}

/** Returns today (UTC, as `2026-11-23`), the live sends that trial accounts created on it, and their shared limit in the settings. */
export async function readTrialSends(database: Connection) {
  const [row] = await database.sql.query<[{ day: string; sends: number; perDay: number }]>`
    select today::text as day, case when trial_sends_on = today then trial_sends_of_day else 0 end as sends,
      trial_sends_per_day as "perDay"
    from settings, (select (now() at time zone 'UTC')::date as today)`;
  return row;
}

/**
 * Returns the countries (ISO 3166; null for all) that an account may send to in live mode, and whether premium-rate numbers are refused,
 * as always for trial accounts. Null if the account does not exist.
 */
export async function readLiveCountries(database: Connection, accountId: string) {
  const [row] = await database.sql.query<{ countries: string[] | null; refusesPremiumRate: boolean }[]>`
    select trial_countries is not null or not allows_premium_rate as "refusesPremiumRate", case
      when trial_countries is null then allowed_countries
      when allowed_countries is null then trial_countries
      else array(select unnest(trial_countries) intersect select unnest(allowed_countries) order by 1)
    end as countries
    from accounts where id = ${accountId}::uuid`;
  return row ?? null;
}
