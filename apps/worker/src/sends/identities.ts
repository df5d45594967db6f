import { LRUCache } from 'lru-cache';
import type { Send } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { findVerifiedIdentity, listEnforcingApplications } from '@onecode/store/sends';

/** How long the list of applications that enforce the identity check is cached. */
const CACHED_MS = 1_000;

/** Returns Meta's hash of the expected owner of a send's number; null delivers the message to the current owner. */
export type FindExpectedIdentity = (send: Send) => Promise<string | null>;

/** Returns a function that finds the expected identities for sends of applications that enforce the identity check. */
export function createIdentities(database: Database): FindExpectedIdentity {
  const cache = new LRUCache<'enforcing', ReadonlySet<string>>({
    max: 1,
    ttl: CACHED_MS,
    fetchMethod: async () => new Set(await listEnforcingApplications(database)),
  });
  return async (send) => {
    const enforcing = await cache.forceFetch('enforcing');
    return enforcing.has(send.applicationId) ? findVerifiedIdentity(database, send.id) : null;
  };
}
