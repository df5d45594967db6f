import { encrypt, reencrypt, tryDecrypt, type Keyring } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { requestReading } from './readings.js';
import { reencryptEventSecrets } from '../mails/eventWebhooks.js';
import { reencryptAppSecrets } from './ownApps.js';
import { toSenderFilter, type SenderKey } from './senders.js';

/** The result for one sender's token. `current`: already encrypted with the current key; `unreadable`: its key is not in the keyring. */
export interface ReencryptedToken {
  senderId: string;
  phoneNumberId: string;
  number: string;
  token: 'reencrypted' | 'current' | 'unreadable';
}

/** Encrypts all tokens and secrets with the keyring's current key, so that older keys can be removed. @returns the senders, oldest first */
export async function reencryptTokens(
  database: Database,
  actor: Actor,
  keyring: Keyring,
): Promise<ReencryptedToken[]> {
  return audited(database, actor, async (connection, log) => {
    // Without the lock, an old token could overwrite one that is set at the same time.
    await connection.sql.execute`select from senders order by id for no key update`;
    const senders = await connection.prisma.sender.findMany({
      where: { removedAt: null },
      orderBy: { id: 'asc' },
      select: { id: true, phoneNumberId: true, number: true, encryptedToken: true },
    });
    const reencrypted: ReencryptedToken[] = [];
    for (const { id, encryptedToken: old, ...rest } of senders) {
      const encryptedToken = reencrypt(keyring, id, old);
      if (encryptedToken !== null)
        await connection.prisma.sender.update({ where: { id }, data: { encryptedToken } });
      const kept = tryDecrypt(keyring, id, old) === null ? 'unreadable' : 'current';
      reencrypted.push({ senderId: id, ...rest, token: encryptedToken === null ? kept : 'reencrypted' });
    }
    await reencryptAppSecrets(connection, keyring);
    await reencryptEventSecrets(connection, keyring);
    const count = reencrypted.filter(({ token }) => token === 'reencrypted').length;
    if (count > 0) await log({ action: 'sender.reencrypt', subject: null, details: { senders: count } });
    return reencrypted;
  });
}

/** Replaces a sender's access token and requests a read. @returns the time of the request; null if the sender does not exist */
export async function setSenderToken(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  key: SenderKey,
  token: string,
): Promise<Date | null> {
  return audited(database, actor, async (connection, log) => {
    const { id, accountId = null } = toSenderFilter(key);
    // Facts about the former token do not apply to the new one. This statement comes first because readings lock in the same order.
    await connection.sql.execute`
      update provider_facts set facts = facts - 'token' where subject = ${id} and template = '' and language = ''
        and (${accountId}::uuid is null or exists (select from senders where id = ${id}::uuid and account_id = ${accountId}::uuid))`;
    const [changed] = await connection.prisma.sender.updateManyAndReturn({
      where: { ...toSenderFilter(key), removedAt: null },
      data: { encryptedToken: new Uint8Array(encrypt(keyring, id, token)) },
      select: { accountId: true },
    });
    if (changed === undefined) return null;
    await log({ action: 'sender.set_token', accountId: changed.accountId, subject: id });
    return requestReading(connection, id);
  });
}
