import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { hashApiKey, isApiKey, Problem } from '@onecode/domain';
import { findCaller, type Caller, type Database } from '@onecode/store';
import type { KeyUse } from './keyUse.js';

/** Milliseconds for which a key's owner is remembered: a revoked key, and those of a suspended account, stop within a second. */
const REMEMBERED_MS = 900;
const REMEMBERED_KEYS_MAX = 10_000;

export type Authenticate = (request: IncomingMessage) => Promise<Caller>;

/**
 * Makes the check of the Bearer credential. Requests that come in with the same key while it is being looked up share the
 * look-up; keys that are not valid are not remembered. Notes the use of those that are.
 *
 * @throws Problem `missing_credentials` without a Bearer credential, `invalid_api_key` with one that names no live key
 */
export function authenticator(database: Database, keyUse: KeyUse): Authenticate {
  const callers = new LRUCache<string, Caller>({
    max: REMEMBERED_KEYS_MAX,
    ttl: REMEMBERED_MS,
    fetchMethod: async (hash) => (await findCaller(database, Buffer.from(hash, 'latin1'))) ?? undefined,
  });
  return async (request) => {
    const credential = bearerCredential(request.headers.authorization);
    if (credential === null) throw new Problem('missing_credentials');
    if (!isApiKey(credential)) throw new Problem('invalid_api_key');
    // The cache knows keys by their hash only, as the database does.
    const hash = hashApiKey(credential).toString('latin1');
    const caller = await callers.fetch(hash);
    if (caller === undefined) throw new Problem('invalid_api_key');
    keyUse.note(hash);
    return caller;
  };
}

/** What follows `Bearer` (in any case, RFC 9110, 11.1), or null when nothing does. */
function bearerCredential(header: string | undefined): string | null {
  const credential = /^bearer(?:[ \t]+(.*))?$/i.exec(header ?? '')?.[1]?.replace(/[ \t]+$/, '') ?? '';
  return credential === '' ? null : credential;
}
