import { LRUCache } from 'lru-cache';
import { findCaller, type Caller, type RefusedKey } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** How long a look-up is cached, unless the key expires earlier. After this time, reads with a revoked key are refused. */
const CACHED_MS = 1_000;
const CACHED_KEYS_MAX = 10_000;

/** Returns the caller with this SHA-256 of a key, in latin1; undefined if the key is unknown. */
export type FindCaller = (hash: string) => Promise<Caller | RefusedKey | undefined>;

/** Returns a function that caches callers for a second. Concurrent requests with one key share its look-up. Unknown keys are not cached. */
export function createCallerCache(database: Database): FindCaller {
  const cache = new LRUCache<string, Caller | RefusedKey>({
    max: CACHED_KEYS_MAX,
    ttl: CACHED_MS,
    // A flood of other keys may evict a look-up in progress. Aborting it would fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (hash, _stale, { options }) => {
      const found = await findCaller(database, Buffer.from(hash, 'latin1'));
      if (found !== null && 'keyId' in found && found.expiresInMs !== null)
        // The cache treats a TTL of zero as no expiry.
        options.ttl = Math.max(1, Math.min(CACHED_MS, Math.floor(found.expiresInMs)));
      return found ?? undefined;
    },
  });
  return (hash) => cache.fetch(hash);
}
