import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import type { Prisma } from '../generated/prisma/client.js';

/** Columns of the settings row that have their own functions, or that are counters. */
const NO_SETTING = {
  id: true,
  priceCurrency: true,
  messagePrices: true,
  mailFrom: true,
  trialSendsOn: true,
  trialSendsOfDay: true,
} as const;

/** The operator's settings for all accounts; the database's schema describes them. */
export type Settings = Prisma.SettingsGetPayload<{ omit: typeof NO_SETTING }> & {
  staffTwoFactor: StaffTwoFactor;
};

export const STAFF_TWO_FACTOR = ['optional', 'required'] as const;
type StaffTwoFactor = (typeof STAFF_TWO_FACTOR)[number];

export type NumericSetting = Exclude<keyof Settings, 'staffTwoFactor'>;

/** The bounds of each number, the same as in the table's checks. */
export const SETTING_BOUNDS: Readonly<Record<NumericSetting, { min: number; max: number }>> = {
  freeSends: { min: 0, max: 1_000_000 },
  codeValiditySeconds: { min: 1, max: 5400 },
  accountRatePerMinute: { min: 1, max: 1_000_000 },
  guessBudget: { min: 5, max: 100 },
  trialSendsPerDay: { min: 0, max: 1_000_000 },
  trialAccountSendsPerDay: { min: 0, max: 1_000_000 },
  signUpsPerNetworkDay: { min: 1, max: 1_000_000 },
  signUpsPerDomainDay: { min: 1, max: 1_000_000 },
  retainNumbersDays: { min: 1, max: 3650 },
  retainSendsDays: { min: 30, max: 3650 },
};

/** Returns the current settings. */
export async function readSettings(database: Connection): Promise<Settings> {
  // Not `findUnique`: Prisma merges concurrent calls of it into one query with `in`, which it does not support for the boolean `id`.
  return (await database.prisma.settings.findFirstOrThrow({ omit: NO_SETTING })) as Settings;
}

/** Returns whether staff need a second factor for staff pages and changes. */
export async function isStaffTwoFactorRequired(database: Connection): Promise<boolean> {
  return (await readSettings(database)).staffTwoFactor === 'required';
}

/** Changes settings, all or none. @param reason for the audit log @throws if a setting does not allow its value */
export async function changeSettings(
  database: Database,
  actor: Actor,
  changes: Partial<Settings>,
  reason?: string,
): Promise<Settings> {
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from settings for no key update`;
    const before = await readSettings(connection);
    await connection.prisma.settings.update({ where: { id: true }, data: changes });
    const after = await readSettings(connection);
    const changed = changedFields(before, after);
    if (changed !== null)
      await log({ action: 'settings.change', subject: null, details: { ...changed, reason } });
    return after;
  });
}

/** Returns today (UTC, as `2026-11-23`), the live sends that trial accounts created on it, and their shared limit in the settings. */
export async function readTrialSends(database: Connection) {
  const [row] = await database.sql.query<[{ day: string; sends: number; perDay: number }]>`
    select today::text as day, case when trial_sends_on = today then trial_sends_of_day else 0 end as sends,
      trial_sends_per_day as "perDay"
    from settings cross join (select (now() at time zone 'UTC')::date as today) d`;
  return row;
}
