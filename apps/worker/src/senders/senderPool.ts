import { LRUCache } from 'lru-cache';
import { tryDecrypt, type Keyring } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { listSenderDetails, type SenderDetails } from '@onecode/store/senders';

const CACHED_MS = 1_000;

/** A sender with its access token in clear. */
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
  const cache = new LRUCache<'senders', Map<string, OpenSender>>({
    max: 1,
    ttl: CACHED_MS,
    // `forget` empties the cache. Look-ups in progress still get their result, because an abort would fail their jobs.
    ignoreFetchAbort: true,
    fetchMethod: async () =>
      new Map(
        (await listSenderDetails(database)).map((sender) => [
          sender.id,
          { ...sender, token: tryDecrypt(secretKey, sender.id, sender.encryptedToken) },
        ]),
      ),
  });
  return {
    async open(id) {
      const known =
        (await cache.forceFetch('senders')).get(id) ??
        // The sender may just have been added.
        (await cache.forceFetch('senders', { forceRefresh: true })).get(id);
      if (known === undefined) throw new Error(`the sender ${id} of a permit does not exist`);
      return known;
    },
    forget: () => void cache.delete('senders'),
  };
}
