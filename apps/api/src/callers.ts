import { LRUCache } from 'lru-cache';
import { findCaller, readCallersVersion, type Caller, type Database } from '@onecode/store';

/**
 * Milliseconds for which an answer that nothing has changed is relied on: a key that is revoked, or whose account is suspended,
 * stops within a second.
 */
const RELIED_ON_MS = 900;
/** Milliseconds after which it is asked for again, beside a request that does not wait for it. */
const ASKED_AGAIN_MS = 450;
const REMEMBERED_KEYS_MAX = 10_000;

/** The caller behind a key's SHA-256 in latin1; undefined when there is none. @throws the database's error */
export type CallerOf = (hash: string) => Promise<Caller | undefined>;

/**
 * Remembers callers until some key or account has changed, which it asks the database twice a second while requests come in.
 * Requests that come in with the same key while it is being looked up share the look-up; keys that are not valid are not remembered.
 */
export function rememberCallers(database: Database): CallerOf {
  const nothingKnown = (): LRUCache<string, Caller> =>
    new LRUCache({
      max: REMEMBERED_KEYS_MAX,
      fetchMethod: async (hash) => (await findCaller(database, Buffer.from(hash, 'latin1'))) ?? undefined,
    });
  let known = nothingKnown();
  let version: bigint | undefined;
  /** When the question was asked to which `version` is the answer. */
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    const at = performance.now();
    const found = await readCallersVersion(database);
    // Another cache, not an empty one: a look-up from before the change that is still under way ends in the old one.
    if (found !== version) known = nothingKnown();
    version = found;
    askedAt = at;
  };
  const asked = (): Promise<void> =>
    (asking ??= ask().finally(() => {
      asking = undefined;
    }));

  return async (hash) => {
    const age = performance.now() - askedAt;
    if (age > RELIED_ON_MS) {
      const before = known;
      const [caller] = await Promise.all([before.fetch(hash), asked()]);
      return before === known ? caller : known.fetch(hash);
    }
    // A failure is not lost: once the last answer is too old, a request waits for the question and fails with it.
    if (age > ASKED_AGAIN_MS) void asked().catch(() => undefined);
    return known.fetch(hash);
  };
}
