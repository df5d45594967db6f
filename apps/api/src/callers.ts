import { LRUCache } from 'lru-cache';
import { findCaller, readCallersVersion, type Caller, type RefusedKey } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** How long the cache is valid: a key that is revoked, or whose account is suspended, stops working within a second. */
const VALID_MS = 900;
/** After this, a request has the version read again without waiting for it. */
const REFRESH_AFTER_MS = 450;
/** A read of the version that is older than this is not shared: its answer may come too late to be valid. */
const SHARED_MS = 200;
/** A look-up fails when the database's answers have come too late for so long. */
const FIND_MS_MAX = 5_000;
const CACHED_KEYS_MAX = 10_000;

/** Whom a key authenticates, or why it does not; undefined when there is no such key. */
type Found = Caller | RefusedKey | undefined;

export interface CallerCache {
  /** Whom the key with this SHA-256, in latin1, authenticates. */
  find(hash: string): Promise<Found>;
  /** Whether the cache is valid and still has this caller for the key, without asking the database. */
  isCurrent(hash: string, caller: Caller): boolean;
}

/**
 * Caches callers until some key or account changes. A change gives the callers another version in the database, which is read twice a
 * second while requests come in. Requests with the same key share its look-up; keys that are not valid are not cached.
 *
 * All callers in a cache were looked up after its version was read. While later reads find the same version, no key and no account was
 * taken away in between, however late the answers come and in whatever order.
 */
export function createCallerCache(database: Database): CallerCache {
  const emptyCache = (): LRUCache<string, Exclude<Found, undefined>> =>
    new LRUCache({
      max: CACHED_KEYS_MAX,
      fetchMethod: async (hash) => (await findCaller(database, Buffer.from(hash, 'latin1'))) ?? undefined,
    });
  let cache = emptyCache();
  /** The version of the callers in the cache. */
  let version: string | undefined;
  /** When the read of that version began. */
  let versionAskedAt = -Infinity;
  /** The latest read of the version that is under way. */
  let versionRead: { askedAt: number; done: Promise<void> } | undefined;

  const isValid = (): boolean => performance.now() - versionAskedAt <= VALID_MS;

  const readVersion = async (askedAt: number): Promise<void> => {
    const found = await readCallersVersion(database);
    // A later read has already answered.
    if (askedAt < versionAskedAt) return;
    // A new cache instead of a cleared one: look-ups under way from before the change still fill the old one.
    if (found !== version) cache = emptyCache();
    version = found;
    versionAskedAt = askedAt;
  };
  const refresh = (): Promise<void> => {
    const askedAt = performance.now();
    if (versionRead !== undefined && askedAt - versionRead.askedAt <= SHARED_MS) return versionRead.done;
    const mine = { askedAt, done: readVersion(askedAt) };
    const ended = (): void => {
      if (versionRead === mine) versionRead = undefined;
    };
    mine.done.then(ended, ended);
    versionRead = mine;
    return mine.done;
  };
  const lookUp = async (hash: string, from: typeof cache): Promise<Found> => {
    const found = await from.fetch(hash);
    // Not cached: after a suspension ends, its keys work at once.
    if (found !== undefined && 'refusal' in found) from.delete(hash);
    return found;
  };

  return {
    async find(hash) {
      const begunAt = performance.now();
      do {
        const current = cache;
        if (!isValid()) {
          const [caller] = await Promise.all([lookUp(hash, current), refresh()]);
          if (current === cache && isValid()) return caller;
          continue;
        }
        // Its failure is not lost: once the cache is no longer valid, requests wait for the read and fail with it.
        if (performance.now() - versionAskedAt > REFRESH_AFTER_MS) void refresh().catch(() => undefined);
        const caller = current.get(hash) ?? (await lookUp(hash, current));
        if (current === cache && isValid()) return caller;
      } while (performance.now() - begunAt < FIND_MS_MAX);
      throw new Error('the database answers too late to tell who calls');
    },
    isCurrent: (hash, caller) => isValid() && cache.peek(hash) === caller,
  };
}
