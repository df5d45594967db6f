import { Prisma } from './generated/prisma/client.js';

/** The columns of an `Account`, of `accounts` by the name given and `settings`. */
export const accountColumns = (alias: string): Prisma.Sql => {
  const name = Prisma.raw(alias);
  return Prisma.sql`${name}.id, ${name}.name, ${name}.language, ${name}.free_quota as "freeQuota", ${name}.credits,
    coalesce(${name}.rate_per_minute, settings.account_rate_per_minute) as "ratePerMinute",
    ${name}.suspended_at as "suspendedAt", ${name}.suspension_reason as "suspensionReason",
    ${name}.trial_countries as "trialCountries"`;
};
