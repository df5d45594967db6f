import { LRUCache } from 'lru-cache';
import type { Send } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import { findVerifiedIdentity, listEnforcingApplications } from '@onecode/store/sends';

/** How long it is cached which applications refuse numbers that have changed hands. */
const CACHED_MS = 1_000;

/** Who has to have a recipient's number, for the sends of applications that enforce it. */
export interface Identities {
  /** The provider's hash of the person whom the message is for; null delivers it to whoever has the number. */
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
