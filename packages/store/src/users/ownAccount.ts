import type { Locale } from '@onecode/domain';
import { audited, type Actor } from '../audit/audit.js';
import type { Database } from '../client/database.js';
import { insertAccount } from '../accounts/accounts.js';
import { listMemberships } from './members.js';

/** An account that somebody makes for themselves. */
export interface NewOwnAccount {
  name: string;
  language: Locale;
  /** Where it may send while it is on trial: ISO 3166 codes, in order and each once. */
  countries: readonly string[];
}

type OwnAccount = { kind: 'member'; accountId: string } | { kind: 'made_before' | 'unknown' };

/**
 * Makes an account on trial for a person who belongs to none, with the free sends then on offer; they become its admin. Whoever
 * belongs to one already gets that one, so that a repeated or doubled request makes no second account.
 *
 * @returns `made_before` for somebody who made one, and left it: a person gets the free sends once; `unknown` for nobody
 */
export async function createOwnAccount(
  database: Database,
  actor: Actor & { id: string },
  { name, language, countries }: NewOwnAccount,
): Promise<OwnAccount> {
  return audited<OwnAccount>(database, actor, async (connection) => {
    // The lock makes requests at the same time wait in a line; each then sees what the one before it made.
    const [person] = await connection.$queryRaw<{ accountMadeAt: Date | null }[]>`
      select account_made_at as "accountMadeAt" from users where id = ${actor.id}::uuid for no key update`;
    if (person === undefined) return { result: { kind: 'unknown' }, note: null };
    const [existing] = await listMemberships(connection, actor.id);
    if (existing !== undefined)
      return { result: { kind: 'member', accountId: existing.accountId }, note: null };
    if (person.accountMadeAt !== null) return { result: { kind: 'made_before' }, note: null };
    const given = { name, language, freeQuota: null, credits: 0, ratePerMinute: null };
    const { id, freeQuota, credits } = await insertAccount(connection, given, countries);
    await connection.member.create({ data: { accountId: id, userId: actor.id, role: 'admin' } });
    await connection.$executeRaw`update users set account_made_at = clock_timestamp() where id = ${actor.id}::uuid`;
    const after = { name, language, freeQuota, credits, ratePerMinute: null, trialCountries: countries };
    return {
      result: { kind: 'member', accountId: id },
      note: { action: 'account.create', accountId: id, subject: id, details: { after } },
    };
  });
}
