import { LRUCache } from 'lru-cache';
import type { Keyring } from '@onecode/domain';
import type { Database } from '@onecode/store/client';
import {
  applySenderReading,
  listSenderDetails,
  takeDueReading,
  type SenderDetails,
} from '@onecode/store/senders';
import { readSender } from '@onecode/whatsapp/graph';
import { waitUnlessAborted, type WorkerContext } from '../context.js';

const CACHED_MS = 1_000;

/** Returns `openSender` of the context. */
export function createSenderCache(database: Database, secretKey: Keyring): WorkerContext['openSender'] {
  const cache = new LRUCache<'all', ReadonlyMap<string, SenderDetails>>({
    max: 1,
    ttl: CACHED_MS,
    fetchMethod: async () =>
      new Map((await listSenderDetails(database, secretKey)).map((sender) => [sender.id, sender])),
  });
  return async (id) => {
    // A sender that is missing may just have been added.
    const known =
      (await cache.forceFetch('all')).get(id) ??
      (await cache.forceFetch('all', { forceRefresh: true })).get(id);
    if (known === undefined) throw new Error(`the sender ${id} of a permit does not exist`);
    return known;
  };
}

/**
 * Reads the due senders from Meta and stores the results. Each due read is made by one worker. After a failure, the next run continues with
 * the other senders.
 */
export async function readDueSenders({
  cloudApi,
  database,
  secretKey,
  stopTimeout,
}: Pick<WorkerContext, 'cloudApi' | 'database' | 'secretKey' | 'stopTimeout'>): Promise<void> {
  for (;;) {
    const due = await takeDueReading(database);
    if (due === null) return;
    // Not cached: the token may just have been replaced, and this read checks whether Meta accepts the new one.
    const senders = await listSenderDetails(database, secretKey);
    const sender = senders.find(({ id }) => id === due.senderId) as SenderDetails;
    const read = readSender(cloudApi.call, { ...sender, token: sender.token ?? '' });
    const reading = await waitUnlessAborted(read, stopTimeout);
    if (reading === null) return;
    // crash point: worker after reading
    await applySenderReading(database, sender, reading, due.startedAt);
  }
}
