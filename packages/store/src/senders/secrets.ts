import { decrypt, encrypt, reencrypt, tryDecrypt, type Keyring } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { reencryptEventSecrets } from '../mails/eventWebhooks.js';

/**
 * Secrets, which are stored encrypted. `appSecret`: that of the sender's own Meta app, or null to remove it; while it is set, the sender's
 * own webhook address accepts that app's webhooks.
 */
export interface SenderSecrets {
  keyring: Keyring;
  token?: string;
  appSecret?: string | null;
}

/** Returns the name under which an app secret is encrypted. It differs from the token's, so that neither can be decrypted as the other. */
const appSecretName = (senderId: string): string => `app of ${senderId}`;

export interface OwnApp {
  /** The account of the app; null for an additional app of the operator. */
  accountId: string | null;
  secret: string;
}

/** Returns a sender's own app; null if the sender does not exist or has none. */
export async function findOwnApp(
  { prisma }: Connection,
  keyring: Keyring,
  senderId: string,
): Promise<OwnApp | null> {
  const sender = await prisma.sender.findUnique({
    where: { id: senderId, removedAt: null },
    select: { accountId: true, encryptedAppSecret: true },
  });
  if (sender === null || sender.encryptedAppSecret === null) return null;
  return {
    accountId: sender.accountId,
    secret: decrypt(keyring, appSecretName(senderId), sender.encryptedAppSecret),
  };
}

/** Returns the columns of a sender's new secrets. */
export function encryptSecrets(
  senderId: string,
  { keyring, token, appSecret }: SenderSecrets,
): { encryptedToken?: Uint8Array<ArrayBuffer>; encryptedAppSecret?: Uint8Array<ArrayBuffer> | null } {
  const encrypted = (name: string, secret: string) => new Uint8Array(encrypt(keyring, name, secret));
  return {
    ...(token !== undefined && { encryptedToken: encrypted(senderId, token) }),
    ...(appSecret !== undefined && {
      encryptedAppSecret: appSecret === null ? null : encrypted(appSecretName(senderId), appSecret),
    }),
  };
}

/** The result for one sender's token. `current`: already encrypted with the current key; `unreadable`: its key is not in the keyring. */
interface ReencryptedToken {
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
        encryptedToken: encryptedToken ?? old,
        encryptedAppSecret: encryptedAppSecret ?? oldSecret,
      };
      await connection.prisma.sender.update({ where: { id }, data });
      const kept = tryDecrypt(keyring, id, old) === null ? 'unreadable' : 'current';
      reencrypted.push({ senderId: id, ...rest, token: encryptedToken === null ? kept : 'reencrypted' });
    }
    await reencryptEventSecrets(connection, keyring);
    const count = reencrypted.filter(({ token }) => token === 'reencrypted').length;
    if (count > 0) await log({ action: 'sender.reencrypt', subject: null, details: { senders: count } });
    return reencrypted;
  });
}
