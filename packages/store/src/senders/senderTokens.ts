import { reencrypt, tryDecrypt, type Keyring } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { reencryptEventSecrets } from '../mails/eventWebhooks.js';
import { appSecretName } from './ownApps.js';

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
      select: {
        id: true,
        phoneNumberId: true,
        number: true,
        encryptedToken: true,
        encryptedAppSecret: true,
      },
    });
    const reencrypted: ReencryptedToken[] = [];
    for (const { id, encryptedToken: old, encryptedAppSecret: oldSecret, ...rest } of senders) {
      const encryptedToken = reencrypt(keyring, id, old);
      const encryptedAppSecret = oldSecret && reencrypt(keyring, appSecretName(id), oldSecret);
      const data = {
        ...(encryptedToken && { encryptedToken }),
        ...(encryptedAppSecret && { encryptedAppSecret }),
      };
      if (Object.keys(data).length > 0) await connection.prisma.sender.update({ where: { id }, data });
      const kept = tryDecrypt(keyring, id, old) === null ? 'unreadable' : 'current';
      reencrypted.push({ senderId: id, ...rest, token: encryptedToken === null ? kept : 'reencrypted' });
    }
    await reencryptEventSecrets(connection, keyring);
    const count = reencrypted.filter(({ token }) => token === 'reencrypted').length;
    if (count > 0) await log({ action: 'sender.reencrypt', subject: null, details: { senders: count } });
    return reencrypted;
  });
}
