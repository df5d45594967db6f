import { sealedVersion, seal, tryUnseal, type Keyring } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { requestReading } from './readings.js';
import { resealEventSecrets } from '../accounts/eventWebhooks.js';
import { resealAppSecrets } from './ownApps.js';
import { keyOf, type SenderKey } from './senders.js';

/** The result for a sender's token. `current`: it was sealed with the current key; `unreadable`: its key is not in the keyring. */
export interface ResealedToken {
  senderId: string;
  phoneNumberId: string;
  number: string;
  token: 'resealed' | 'current' | 'unreadable';
}

/** Seals all tokens and secrets with the keyring's current key, so that older keys can leave it. @returns the senders, oldest first */
export async function resealTokens(
  database: Database,
  actor: Actor,
  keyring: Keyring,
): Promise<ResealedToken[]> {
  return audited(database, actor, async (connection, log) => {
    // A token that is set meanwhile waits for the lock: the old one must not overwrite it.
    await connection.sql.execute`select from senders order by id for no key update`;
    const senders = await connection.prisma.sender.findMany({
      where: { removedAt: null },
      orderBy: { id: 'asc' },
      select: { id: true, phoneNumberId: true, number: true, sealedToken: true },
    });
    const resealed: ResealedToken[] = [];
    for (const { id, sealedToken, ...rest } of senders)
      resealed.push({
        senderId: id,
        ...rest,
        token: await resealToken(connection, keyring, id, sealedToken),
      });
    await resealAppSecrets(connection, keyring);
    await resealEventSecrets(connection, keyring);
    const count = resealed.filter(({ token }) => token === 'resealed').length;
    if (count > 0) await log({ action: 'sender.reseal', subject: null, details: { senders: count } });
    return resealed;
  });
}

async function resealToken(
  connection: Connection,
  keyring: Keyring,
  id: string,
  sealed: Uint8Array,
): Promise<ResealedToken['token']> {
  const token = tryUnseal(keyring, id, sealed);
  if (token === null) return 'unreadable';
  if (sealedVersion(sealed) === keyring.current) return 'current';
  const sealedToken = new Uint8Array(seal(keyring, id, token));
  await connection.prisma.sender.update({ where: { id }, data: { sealedToken } });
  return 'resealed';
}

/** Replaces a sender's access token and asks for a read. @returns the time of asking; null when there is no such sender */
export async function setSenderToken(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  key: SenderKey,
  token: string,
): Promise<Date | null> {
  return audited(database, actor, async (connection, log) => {
    const { id, accountId = null } = keyOf(key);
    // What was read of the former token says nothing of this one. First, in the order in which readings are written.
    await connection.sql.execute`
      update provider_facts set facts = facts - 'token' where subject = ${id} and template = '' and language = ''
        and (${accountId}::uuid is null or exists (select from senders where id = ${id}::uuid and account_id = ${accountId}::uuid))`;
    const [changed] = await connection.prisma.sender.updateManyAndReturn({
      where: { ...keyOf(key), removedAt: null },
      data: { sealedToken: new Uint8Array(seal(keyring, id, token)) },
      select: { accountId: true },
    });
    if (changed === undefined) return null;
    await log({ action: 'sender.set_token', accountId: changed.accountId, subject: id });
    return requestReading(connection, id);
  });
}
