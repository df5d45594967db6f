import { tryDecrypt, type Keyring } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { listSenderDetails, type SenderDetails } from '@onecode/store/senders';

const CACHED_MS = 1_000;

/** A sender with its decrypted access token. */
export interface OpenSender extends SenderDetails {
  /** Null when the token cannot be decrypted. */
  token: string | null;
}

/** The senders with their tokens and blocks, cached for a second. */
export interface SenderPool {
  /** Returns a sender. @throws Error when it does not exist */
  open(senderId: string): Promise<OpenSender>;
  /** Clears the cache after a sender was changed. */
  forget(): void;
}

export function createSenderPool(database: Database, secretKey: Keyring): SenderPool {
  let cached: { senders: Promise<Map<string, OpenSender>>; until: number } | null = null;
  const forget = (): void => void (cached = null);
  const read = async (): Promise<Map<string, OpenSender>> =>
    new Map(
      (await listSenderDetails(database)).map((sender) => [
        sender.id,
        { ...sender, token: tryDecrypt(secretKey, sender.id, sender.encryptedToken) },
      ]),
    );
  const refresh = (): Promise<Map<string, OpenSender>> => {
    const senders = read();
    cached = { senders, until: performance.now() + CACHED_MS };
    senders.catch(forget);
    return senders;
  };
  return {
    async open(id) {
      const senders = cached !== null && performance.now() < cached.until ? cached.senders : refresh();
      // A sender that is missing may just have been added.
      const known = (await senders).get(id) ?? (await refresh()).get(id);
      if (known === undefined) throw new Error(`the sender ${id} of a permit does not exist`);
      return known;
    },
    forget,
  };
}
