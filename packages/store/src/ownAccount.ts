import type { Locale } from '@onecode/domain';
import { audited, type Actor } from './audit.js';
import type { Database } from './database.js';
import { insertAccount } from './insertAccount.js';
import { listMemberships, type Membership } from './members.js';

/**
 * Makes an account for a person who belongs to none, with the free sends then on offer; they become its admin. Whoever belongs
 * to one already gets that one, so that a repeated or doubled request makes no second account.
 *
 * @returns null when there is no such person
 */
export async function createOwnAccount(
  database: Database,
  actor: Actor & { id: string },
  { name, language }: { name: string; language: Locale },
): Promise<Membership | null> {
  return audited(database, actor, async (connection) => {
    // The lock makes requests at the same time wait in a line; each then sees what the one before it made.
    const found =
      await connection.$executeRaw`select from users where id = ${actor.id}::uuid for no key update`;
    if (found === 0) return { result: null, note: null };
    const [existing] = await listMemberships(connection, actor.id);
    if (existing !== undefined) return { result: existing, note: null };
    const given = { name, language, freeQuota: null, credits: 0, ratePerMinute: null };
    const { id, freeQuota, credits } = await insertAccount(connection, given);
    await connection.member.create({ data: { accountId: id, userId: actor.id, role: 'admin' } });
    const after = { name, language, freeQuota, credits, ratePerMinute: null };
    return {
      result: { accountId: id, accountName: name, language, role: 'admin' },
      note: { action: 'account.create', accountId: id, subject: id, details: { after } },
    };
  });
}
