import type { Actor } from './audit.js';
import { changeAbuseControls } from './changeAbuseControls.js';
import type { Database } from './database.js';
import type { AbuseControls } from './defences.js';

/**
 * Lets an account send to these countries only (ISO 3166 codes, at least one), or with null to all of them.
 *
 * @returns its defences afterwards, or null when there is no such account
 */
export async function allowCountries(
  database: Database,
  actor: Actor,
  accountId: string,
  countries: readonly string[] | null,
): Promise<AbuseControls | null> {
  return changeAbuseControls(database, actor, 'account.allow_countries', accountId, async (connection) => {
    await connection.$executeRaw`
      update accounts set allowed_countries = ${countries}::text[] where id = ${accountId}::uuid`;
  });
}
