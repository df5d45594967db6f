import { LRUCache } from 'lru-cache';
import type { Send } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { findVerifiedIdentity, listEnforcingApplications } from '@onecode/store/sends';

/** How long the list of applications that enforce the identity check is cached. */
const CACHED_MS = 1_000;

/** The expected owners of recipients' numbers, for sends of applications that enforce the identity check. */
export interface Identities {
  /** Returns Meta's hash of the expected owner; null delivers the message to the current owner of the number. */
  of(send: Send): Promise<string | null>;
}

export function createIdentities(database: Database): Identities {
  const cache = new LRUCache<'enforcing', ReadonlySet<string>>({
    max: 1,
    ttl: CACHED_MS,
    fetchMethod: async () => new Set(await listEnforcingApplications(database)),
  });
  return {
    async of(send) {
      const enforcing = await cache.forceFetch('enforcing');
      return enforcing.has(send.applicationId) ? findVerifiedIdentity(database, send.id) : null;
    },
  };
}
