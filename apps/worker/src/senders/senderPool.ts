import { LRUCache } from 'lru-cache';
import type { Keyring } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { listSenderDetails, type SenderDetails } from '@onecode/store/senders';

const CACHED_MS = 1_000;

/** The senders with their tokens and blocks, cached for a second. */
export interface SenderPool {
  /** Returns a sender. @throws Error when it does not exist */
  open(senderId: string): Promise<SenderDetails>;
  /** Clears the cache after a sender was changed. */
  forget(): void;
}

export function createSenderPool(database: Database, secretKey: Keyring): SenderPool {
  const cache = new LRUCache<'all', ReadonlyMap<string, SenderDetails>>({
    max: 1,
    ttl: CACHED_MS,
    // A read that `forget` interrupts is still the answer for the calls that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async () =>
      new Map((await listSenderDetails(database, secretKey)).map((sender) => [sender.id, sender])),
  });
  return {
    async open(id) {
      // A sender that is missing may just have been added.
      const known =
        (await cache.forceFetch('all')).get(id) ??
        (await cache.forceFetch('all', { forceRefresh: true })).get(id);
      if (known === undefined) throw new Error(`the sender ${id} of a permit does not exist`);
      return known;
    },
    forget: () => cache.clear(),
  };
}
