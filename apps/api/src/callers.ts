import { LRUCache } from 'lru-cache';
import { findCaller, readCallersVersion, type Caller, type Database } from '@onecode/store';

/**
 * Milliseconds for which an answer that nothing has changed is relied on, from when it was asked for: a key that is revoked, or whose
 * account is suspended, stops within a second.
 */
const RELIED_ON_MS = 900;
/** Milliseconds after which it is asked for again, beside a request that does not wait for it. */
const ASKED_AGAIN_MS = 450;
/** A question that has waited longer than this for its answer is shared no more: its answer may come too late to be relied on. */
const SHARED_MS = 200;
/** A database that answers too late all the time is one that does not answer. */
const JUDGED_MS_MAX = 5_000;
const REMEMBERED_KEYS_MAX = 10_000;

/** Who a key speaks for: nobody when its account is suspended, or when there is no such key. */
type Judged = Caller | 'suspended' | undefined;

export interface Callers {
  /** Who the key with this SHA-256 in latin1 speaks for. @throws the database's error, or one that it answers too late */
  judge(hash: string): Promise<Judged>;
  /** Whether what was judged of a key still holds, as far as can be told without asking anybody. */
  stillHolds(hash: string, caller: Caller): boolean;
}

/**
 * Remembers callers until some key or account has changed, which it asks the database twice a second while requests come in.
 * Requests that come in with the same key while it is being looked up share the look-up; keys that are not valid are not remembered.
 *
 * Everything in a cache was looked up after the version was asked that the cache belongs to. While later questions have the same answer,
 * nothing was taken away between the two, however late the answers come and in whichever order.
 */
export function rememberCallers(database: Database): Callers {
  const nothingKnown = (): LRUCache<string, Exclude<Judged, undefined>> =>
    new LRUCache({
      max: REMEMBERED_KEYS_MAX,
      fetchMethod: async (hash) => (await findCaller(database, Buffer.from(hash, 'latin1'))) ?? undefined,
    });
  let known = nothingKnown();
  let version: string | undefined;
  /** When the question was asked to which `version` is the answer. */
  let askedAt = -Infinity;
  /** The latest question that waits for its answer. */
  let question: { askedAt: number; answered: Promise<void> } | undefined;

  const age = (): number => performance.now() - askedAt;

  const ask = async (at: number): Promise<void> => {
    const found = await readCallersVersion(database);
    // The answer to a later question says more.
    if (at < askedAt) return;
    // Another cache, not an empty one: a look-up from before the change that is still under way ends in the old one.
    if (found !== version) known = nothingKnown();
    version = found;
    askedAt = at;
  };
  const asked = (): Promise<void> => {
    const at = performance.now();
    if (question !== undefined && at - question.askedAt <= SHARED_MS) return question.answered;
    const mine = { askedAt: at, answered: ask(at) };
    const ended = (): void => {
      if (question === mine) question = undefined;
    };
    mine.answered.then(ended, ended);
    question = mine;
    return mine.answered;
  };
  const lookUp = async (hash: string, cache: typeof known): Promise<Judged> => {
    const caller = await cache.fetch(hash);
    // Whoever is resumed goes on at once.
    if (caller === 'suspended') cache.delete(hash);
    return caller;
  };

  return {
    async judge(hash) {
      const begunAt = performance.now();
      do {
        const cache = known;
        const isOld = age() > RELIED_ON_MS;
        if (isOld) {
          const [caller] = await Promise.all([lookUp(hash, cache), asked()]);
          if (cache === known && age() <= RELIED_ON_MS) return caller;
          continue;
        }
        // A failure is not lost: once the last answer is too old, a request waits for the question and fails with it.
        if (age() > ASKED_AGAIN_MS) void asked().catch(() => undefined);
        const caller = cache.get(hash) ?? (await lookUp(hash, cache));
        if (cache === known && age() <= RELIED_ON_MS) return caller;
      } while (performance.now() - begunAt < JUDGED_MS_MAX);
      throw new Error('the database answers too late to tell who calls');
    },
    stillHolds: (hash, caller) => age() <= RELIED_ON_MS && known.peek(hash) === caller,
  };
}
