import { LRUCache } from 'lru-cache';
import { blockSubject, tryDecrypt, type BlockSubject, type Keyring } from '@onecode/domain';
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
  /** Returns the senders that a block applies to, including removed ones. */
  of(block: Pick<BlockSubject, 'scope' | 'subject'>): Promise<OpenSender[]>;
  /** Clears the cache after a sender was changed. */
  forget(): void;
}

export function createSenderPool(database: Database, secretKey: Keyring): SenderPool {
  const cache = new LRUCache<'all', ReadonlyMap<string, OpenSender>>({
    max: 1,
    ttl: CACHED_MS,
    // A read that `forget` interrupts is still the answer for the calls that wait for it.
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
      // A sender that is missing may just have been added.
      const known =
        (await cache.forceFetch('all')).get(id) ??
        (await cache.forceFetch('all', { forceRefresh: true })).get(id);
      if (known === undefined) throw new Error(`the sender ${id} of a permit does not exist`);
      return known;
    },
    async of({ scope, subject }) {
      const all = await cache.forceFetch('all');
      return [...all.values()].filter((sender) => blockSubject(scope, sender) === subject);
    },
    forget: () => cache.clear(),
  };
}
