import type { BreakerRule, Locale } from '@onecode/domain';
import { type Actor, audited, changeRow } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';

/** Which senders an account's sends use: the senders that all accounts share (`shared`), or only its own (`own`). */
export const SENDER_POLICIES = ['shared', 'own'] as const;
export type SenderPolicy = (typeof SENDER_POLICIES)[number];

/** The minimum and maximum of a ceiling. */
export const CEILING_BOUNDS = { min: 0, max: 1_000_000_000 } as const;

export interface Account {
  id: string;
  name: string;
  language: Locale;
  freeQuota: number;
  credits: number;
  /** The creation limit in force: the account's own, or the setting. */
  ratePerMinute: number;
  senders: SenderPolicy;
  /** Null unless the account is suspended, which makes its keys invalid. */
  suspendedAt: Date | null;
  suspensionReason: string | null;
  /** When it will be deleted, at the request of an admin; null without a request. */
  deleteAt: Date | null;
  /**
   * For an account on trial (created by its owner, until its first credits): the only countries that it may send to (ISO 3166). Null
   * otherwise.
   */
  trialCountries: string[] | null;
  /** ISO 3166 codes; null allows every country, and numbers without a country. */
  allowedCountries: string[] | null;
  /** Whether it may send to satellite and premium-rate numbers. */
  allowsPremiumRate: boolean;
  /** The most units that its sends may use per day and per month in UTC, each null without a ceiling. */
  unitsPerDay: number | null;
  unitsPerMonth: number | null;
  /** The units that its sends used today and this month (UTC), including refunded ones. */
  unitsToday: number;
  unitsThisMonth: number;
  /** The balance below which its admins get a mail; null if it is off. */
  balanceAlert: number | null;
  /** Null if it is off. */
  breaker: BreakerRule | null;
  /** The countries that the fraud breaker blocks now (`NO_COUNTRY` for numbers without a country). */
  blockedCountries: string[];
}

/** The select list of an `Account` without `ratePerMinute` and the used units, from a row `a` of `accounts`. */
const COLUMNS = Prisma.sql`
  a.id, a.name, a.language, a.free_quota as "freeQuota", a.credits, a.senders, a.suspended_at as "suspendedAt",
  a.suspension_reason as "suspensionReason", a.delete_at as "deleteAt", a.trial_countries as "trialCountries",
  a.allowed_countries as "allowedCountries", a.allows_premium_rate as "allowsPremiumRate", a.units_per_day as "unitsPerDay",
  a.units_per_month as "unitsPerMonth", a.low_balance as "balanceAlert",
  case when a.breaker_unverified_percent is not null then
    jsonb_build_object('unverifiedPercent', a.breaker_unverified_percent, 'minSends', a.breaker_min_sends)
  end as breaker,
  array(
    select country from breaker_trips where account_id = a.id and open_until > clock_timestamp() order by country
  ) as "blockedCountries"`;

/** The select list of an `Account`, from `settings` and a row `a` of `accounts`. */
export const ACCOUNT_COLUMNS = Prisma.sql`${COLUMNS},
  coalesce(a.rate_per_minute, settings.account_rate_per_minute) as "ratePerMinute",
  case when a.units_on = (clock_timestamp() at time zone 'UTC')::date then a.units_of_day else 0 end as "unitsToday",
  case when date_trunc('month', a.units_on::timestamp) = date_trunc('month', clock_timestamp() at time zone 'UTC')
    then a.units_of_month else 0 end as "unitsThisMonth"`;

/** Returns an account, or null if it does not exist. */
export async function findAccount({ sql }: Connection, id: string): Promise<Account | null> {
  const [row] = await sql.query<Account[]>`
    select ${ACCOUNT_COLUMNS} from accounts a, settings where a.id = ${id}::uuid`;
  return row ?? null;
}

export interface NewAccount extends Pick<Account, 'name' | 'language' | 'credits'> {
  /** Null for the setting `free_sends`. */
  freeQuota: number | null;
  /** Null follows the setting. */
  ratePerMinute: number | null;
  /**
   * The countries to which a trial account may send; omitted without a trial. A trial account starts with safe limits: no sends to other
   * countries or to satellite and premium-rate numbers, and a daily ceiling. After the trial, they stay until an admin changes them.
   */
  trialCountries?: readonly string[];
}

/** The daily ceiling that a trial account starts with. Its admins can change it. */
const TRIAL_UNITS_PER_DAY = 1_000;

/** Creates an account, with ledger entries for its initial units. */
export function createAccount(
  database: Database | Connection,
  actor: Actor,
  account: NewAccount,
): Promise<Account> {
  return audited(database, actor, async ({ sql }, log) => {
    const id = newId();
    const [made] = await sql.query<[Account]>`
      with a as (
        insert into accounts (id, name, language, free_quota, credits, rate_per_minute, trial_countries, allowed_countries,
          allows_premium_rate, units_per_day)
        select ${id}::uuid, ${account.name}, ${account.language}, coalesce(${account.freeQuota}::integer, free_sends),
          ${account.credits}::integer, ${account.ratePerMinute}::integer, t.countries, t.countries, t.countries is null,
          case when t.countries is not null then ${TRIAL_UNITS_PER_DAY}::integer end
        from settings, (select ${account.trialCountries ?? null}::text[] as countries) t
        returning *
      ), granted as (
        insert into ledger_entries (account_id, kind, bucket, units, reason)
        select a.id, 'granted', g.bucket, g.units, 'account created'
        from a, lateral (values ('free_quota', a.free_quota), ('credit', a.credits)) as g (bucket, units)
        where g.units > 0
      )
      select ${ACCOUNT_COLUMNS} from a, settings`;
    const after = { ...account, freeQuota: made.freeQuota };
    await log({ action: 'account.create', accountId: id, subject: id, details: { after } });
    return made;
  });
}

/** The fields that `changeAccount` sets. */
interface ChangeableFields
  extends
    Pick<Account, 'name' | 'language' | 'senders' | 'allowedCountries' | 'allowsPremiumRate'>,
    Pick<Account, 'unitsPerDay' | 'unitsPerMonth' | 'breaker'>,
    Pick<NewAccount, 'ratePerMinute'> {}

/**
 * Changes the given fields. Turning off the breaker also unblocks the countries that it blocks.
 *
 * @returns the changed account, or null if it does not exist
 */
export function changeAccount(
  database: Database,
  actor: Actor,
  id: string,
  { allowedCountries, breaker, ...fields }: Partial<ChangeableFields>,
): Promise<Account | null> {
  return changeAccountRow(database, actor, 'account.change', id, async (connection) => {
    const data = {
      ...fields,
      ...(breaker !== undefined && {
        breakerUnverifiedPercent: breaker?.unverifiedPercent ?? null,
        breakerMinSends: breaker?.minSends ?? null,
      }),
    };
    await connection.prisma.account.update({ where: { id }, data, select: { id: true } });
    // Prisma cannot set a list to null.
    if (allowedCountries !== undefined)
      await connection.sql
        .execute`update accounts set allowed_countries = ${allowedCountries}::text[] where id = ${id}::uuid`;
    if (breaker === null) await endTrips(connection, id);
  });
}

/** Unblocks an account's blocked countries; only later sends can trip its breaker again. @returns as `changeAccount` */
export function resetBreaker(database: Database, actor: Actor, id: string): Promise<Account | null> {
  return changeAccountRow(database, actor, 'account.reset_breaker', id, (connection) =>
    endTrips(connection, id),
  );
}

async function endTrips({ sql }: Connection, accountId: string): Promise<void> {
  await sql.execute`
    update breaker_trips set open_until = clock_timestamp()
    where account_id = ${accountId}::uuid and open_until > clock_timestamp()`;
}

/**
 * Suspends an account, or ends its suspension. The keys of a suspended account stop being valid within a second; earlier sends continue.
 * An account that is suspended already keeps its time and gets the new reason.
 *
 * @param reason null ends the suspension: the keys are valid again
 * @returns as `changeAccount`
 */
export function setSuspension(
  database: Database,
  actor: Actor,
  id: string,
  reason: string | null,
): Promise<Account | null> {
  const action = reason === null ? 'account.resume' : 'account.suspend';
  return changeAccountRow(database, actor, action, id, async ({ sql }) => {
    await sql.execute`
      update accounts set suspension_reason = ${reason},
        suspended_at = case when ${reason}::text is not null then coalesce(suspended_at, clock_timestamp()) end
      where id = ${id}::uuid`;
  });
}

/** Changes an account under its lock, and logs the changed fields. @returns the changed account, or null if it does not exist */
export async function changeAccountRow(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  write: (connection: Connection) => Promise<void>,
): Promise<Account | null> {
  // The audit log has the account's own creation limit: null follows the setting.
  const read = async ({ sql }: Connection) => {
    const [row] = await sql.query<object[]>`
      select ${COLUMNS}, a.rate_per_minute as "ratePerMinute" from accounts a where a.id = ${id}::uuid`;
    return row ?? null;
  };
  const row = { action, table: 'accounts', id, read } as const;
  return (await changeRow(database, actor, row, write)) && findAccount(database, id);
}
