import { LRUCache } from 'lru-cache';
import { findCaller } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** How long a look-up is cached. After this time, reads with a revoked or expired key are refused. */
const CACHED_MS = 1_000;
const CACHED_KEYS_MAX = 10_000;

type FoundCaller = Awaited<ReturnType<typeof findCaller>>;

/** Returns the caller with this SHA-256 of a key, in latin1; undefined if the key is unknown. */
export type FindCaller = (hash: string) => Promise<FoundCaller>;

/** Returns a function that caches callers for a second. Concurrent requests with one key share its look-up. Unknown keys are not cached. */
export function createCallerCache(database: Database): FindCaller {
  const cache = new LRUCache<string, NonNullable<FoundCaller>>({
    max: CACHED_KEYS_MAX,
    ttl: CACHED_MS,
    // A flood of other keys may evict a look-up in progress. Aborting it would fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (hash) => findCaller(database, Buffer.from(hash, 'latin1')),
  });
  return (hash) => cache.fetch(hash);
}
