import { boxVersion, seal, unseal, type Keyring } from '@onecode/domain';
import type { Database } from './database.js';

/**
 * What became of a sender's token. `current`: it was sealed with the current key already; `unreadable`: the key that sealed it
 * is not in the ring.
 */
export interface ResealedToken {
  senderId: string;
  phoneNumberId: string;
  number: string;
  token: 'resealed' | 'current' | 'unreadable';
}

/** Seals every sender's token with the ring's current key, so that older keys can leave the ring. Oldest sender first. */
export async function resealTokens(database: Database, ring: Keyring): Promise<ResealedToken[]> {
  const senders = await database.sender.findMany({
    orderBy: { id: 'asc' },
    select: { id: true, phoneNumberId: true, number: true },
  });
  const resealed: ResealedToken[] = [];
  for (const { id, ...rest } of senders)
    resealed.push({ senderId: id, ...rest, token: await resealToken(database, ring, id) });
  return resealed;
}

async function resealToken(database: Database, ring: Keyring, id: string): Promise<ResealedToken['token']> {
  for (;;) {
    const { tokenBox } = await database.sender.findUniqueOrThrow({
      where: { id },
      select: { tokenBox: true },
    });
    const token = opened(ring, id, tokenBox);
    if (token === null) return 'unreadable';
    if (boxVersion(tokenBox) === ring.current) return 'current';
    // Another token may have been set since this one was read: it must not be overwritten with the old one.
    const { count } = await database.sender.updateMany({
      where: { id, tokenBox },
      data: { tokenBox: new Uint8Array(seal(ring, id, token)) },
    });
    if (count === 1) return 'resealed';
  }
}

function opened(ring: Keyring, id: string, box: Uint8Array): string | null {
  try {
    return unseal(ring, id, box);
  } catch {
    return null;
  }
}

/** Gives a sender another access token, sealed. @returns whether there is such a sender */
export async function setSenderToken(
  database: Database,
  ring: Keyring,
  id: string,
  token: string,
): Promise<boolean> {
  const { count } = await database.sender.updateMany({
    where: { id },
    data: { tokenBox: new Uint8Array(seal(ring, id, token)) },
  });
  return count === 1;
}
