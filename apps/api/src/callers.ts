import { LRUCache } from 'lru-cache';
import { findCaller } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** The maximum age of a look-up. After this time, reads with a revoked or expired key are refused. */
const RECENT_MS = 1_000;
/** How long creations use a look-up: the application of a key never changes. */
const CACHED_MS = 600_000;
const CACHED_KEYS_MAX = 10_000;

type FoundCaller = Awaited<ReturnType<typeof findCaller>>;

/**
 * Returns the caller with this SHA-256 of a key, in latin1; undefined if the key is unknown.
 *
 * @param isCheckedAgain whether a later statement of the request checks the key: a caller that was valid minutes ago is returned without
 * another look-up
 */
export type FindCaller = (hash: string, isCheckedAgain?: boolean) => Promise<FoundCaller>;

/** Returns a function that caches callers. Concurrent requests with one key share its look-up. Unknown keys are not cached. */
export function createCallerCache(database: Database): FindCaller {
  const cache = new LRUCache<string, NonNullable<FoundCaller>>({
    max: CACHED_KEYS_MAX,
    ttl: CACHED_MS,
    // A flood of other keys may evict a look-up in progress. Aborting it would fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (hash) => findCaller(database, Buffer.from(hash, 'latin1')),
  });
  return async (hash, isCheckedAgain = false) => {
    const cached = isCheckedAgain ? cache.get(hash) : undefined;
    if (cached?.state === 'valid') return cached;
    const ageMs = CACHED_MS - cache.getRemainingTTL(hash);
    return cache.fetch(hash, { forceRefresh: ageMs >= RECENT_MS });
  };
}
