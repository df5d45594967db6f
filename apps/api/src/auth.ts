import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import {
  hashApiKey,
  isApiKey,
  KEY_REFUSALS,
  Problem,
  trimOuter,
  type KeyRefusal,
  type KeyState,
} from '@onecode/domain';
import { findCaller, recordKeyUsage, type Caller } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';

/** The maximum age of a look-up, except for creations. A revoked or expired key can still read sends for this long. */
const RECENT_MS = 1_000;
const KEYS_MAX = 10_000;

/** A request. After the look-up of a known key it has the key's caller, even if the key is refused. */
export interface AttributedRequest extends IncomingMessage {
  caller?: Caller;
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Creates an authenticator, which caches callers. Concurrent requests with one key share its look-up. Unknown keys are not cached. */
export function createAuthenticator(database: Database) {
  /** The callers by the SHA-256 of their key, in latin1: like the database, the cache contains no key. */
  const callers = new LRUCache<string, Caller & { state: KeyState }>({
    max: KEYS_MAX,
    ttl: RECENT_MS,
    // Older look-ups of valid keys stay for requests that are checked again.
    noDeleteOnStaleGet: true,
    // A flood of other keys may evict a look-up in progress. Aborting it would fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (hash) => findCaller(database, Buffer.from(hash, 'latin1')),
  });
  const usedKeys = new Set<string>();

  return {
    /**
     * Returns the caller of a request, and records the use of its key in memory.
     *
     * @param isCheckedAgain true for a creation: its statement checks the key again, so a cached look-up of a valid key is enough at any
     * age. (The application of a key never changes.) Otherwise the look-up is at most a second old
     * @throws Problem `missing_credentials` without a Bearer credential, `invalid_api_key` unless it is a valid key
     */
    authenticate: async (request: AttributedRequest, isCheckedAgain = false): Promise<Caller> => {
      const credential = bearerCredential(request.headers.authorization);
      if (credential === null) throw new Problem('missing_credentials');
      if (!isApiKey(credential)) throw new Problem('invalid_api_key');
      const hash = hashApiKey(credential).toString('latin1');
      let caller = isCheckedAgain ? callers.get(hash, { allowStale: true }) : undefined;
      if (caller?.state !== 'valid') caller = await callers.fetch(hash);
      if (caller === undefined) {
        // The cache keeps an earlier look-up of a key that was deleted.
        callers.delete(hash);
        throw new Problem('invalid_api_key');
      }
      request.caller = caller;
      if (caller.state !== 'valid') throw invalidKey(caller.state);
      usedKeys.add(caller.keyId);
      return caller;
    },
    /** Writes the uses of keys since the last flush. @throws the database's error; these uses are lost */
    flushKeyUsage: async (): Promise<void> => {
      const used = [...usedKeys];
      usedKeys.clear();
      await recordKeyUsage(database, used);
    },
  };
}

/** Returns the problem for a known key that may not be used. */
export const invalidKey = (cause: KeyRefusal): Problem =>
  new Problem('invalid_api_key', { detail: KEY_REFUSALS[cause] });

/** Returns the credential after the scheme `Bearer` (in any case: RFC 9110, 11.1), or null without one. */
function bearerCredential(header = ''): string | null {
  if (!/^bearer[ \t]/i.test(header)) return null;
  return trimOuter(header.slice('bearer'.length), ' \t') || null;
}
