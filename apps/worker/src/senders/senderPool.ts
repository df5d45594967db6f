import { LRUCache } from 'lru-cache';
import { tryDecrypt, type Keyring } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { listSenderDetails, type SenderDetails } from '@onecode/store/senders';

/** How long the senders' details are cached. */
const CACHED_MS = 1_000;

/** A sender with its access token in clear. */
export interface OpenSender extends SenderDetails {
  /** Null when the token cannot be decrypted. */
  token: string | null;
}

/** The senders with what calls need of them, cached for a second. */
export interface SenderPool {
  /** @throws Error when there is no such sender */
  open(senderId: string): Promise<OpenSender>;
  /** Reads the senders again at the next look-up, after one of them was changed. */
  forget(): void;
}

export function createSenderPool(database: Database, secretKey: Keyring): SenderPool {
  const cache = new LRUCache<'senders', Map<string, OpenSender>>({
    max: 1,
    ttl: CACHED_MS,
    // A fault empties the cache. Look-ups under way still get what was read for them: an abort would fail their jobs.
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
        // The sender may have been added a moment ago.
        (await cache.forceFetch('senders', { forceRefresh: true })).get(id);
      if (known === undefined) throw new Error('a permit was taken from an unknown sender');
      return known;
    },
    forget: () => void cache.delete('senders'),
  };
}
