import type { Locale } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { createAccount } from '../accounts/accounts.js';
import { createApiKey } from '../accounts/apiKeys.js';
import { createApplication } from '../accounts/applications.js';
import { listMemberships } from './members.js';

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

/**
 * Creates a trial account for a person without an account, with the free sends of the setting, a test application and its key; the person
 * becomes its admin. A person who already has an account gets the existing one, without a key, so that a repeated or concurrent request
 * creates no second account.
 *
 * @returns null for a person who created an account and left it, because free sends are granted once per person
 */
export async function createOwnAccount(
  database: Database,
  actor: Actor & { id: string },
  { name, language, countries, names }: NewOwnAccount,
): Promise<{ accountId: string; first: FirstApplication | null } | null> {
  return audited(database, actor, async (connection) => {
    const { prisma, sql } = connection;
    // The lock serializes a person's requests, so that the next one sees the account that this one creates.
    await sql.execute`select from users where id = ${actor.id}::uuid for no key update`;
    const [existing] = await listMemberships(connection, actor.id);
    if (existing !== undefined) return { accountId: existing.accountId, first: null };
    if (!(await mayCreateAccount(connection, actor.id))) return null;
    const account = { name, language, freeQuota: null, credits: 0, ratePerMinute: null };
    const made = await createAccount(connection, actor, { ...account, trialCountries: countries });
    const accountId = made.id;
    await prisma.member.create({ data: { accountId, userId: actor.id, role: 'admin' } });
    await sql.execute`update users set account_made_at = clock_timestamp() where id = ${actor.id}::uuid`;
    const wanted = { accountId, name: names.application, mode: 'test' } as const;
    const application = await createApplication(connection, actor, wanted);
    const key = application && (await createApiKey(connection, actor, application.id, { name: names.key }));
    return { accountId, first: key && { applicationId: key.applicationId, key: key.key } };
  });
}

/** Returns whether a person belongs to no account and has never created one. */
export async function mayCreateAccount(database: Connection, userId: string): Promise<boolean> {
  const where = { id: userId, accountMadeAt: null, members: { none: {} } };
  return (await database.prisma.user.findFirst({ where, select: { id: true } })) !== null;
}
