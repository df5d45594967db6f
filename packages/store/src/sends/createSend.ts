import { decideCreations, type CreationDecision, type NewSend } from '@onecode/domain';
import { LRUCache } from 'lru-cache';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { pauseAfterLostRace, RACES_MS_MAX } from '../client/races.js';
import { moveIdentities } from './identities.js';
import { readCreations } from './readCreations.js';
import { findSend, type SendRow } from './sendRow.js';
import { writeCreations } from './writeCreations.js';

/** How a creation ended. */
export type Creation =
  | Exclude<CreationDecision, { outcome: 'existing' }>
  | { outcome: 'existing'; send: SendRow };

/** The maximum number of creations of one account in a batch. */
const CREATIONS_MAX = 50;
/** The maximum number of accounts in a batch. They are locked while the batch is written. */
const ACCOUNTS_MAX = 25;
/** The maximum number of batchers that are kept, one for each account. */
const ACCOUNTS_KEPT_MAX = 10_000;

/**
 * Creates a send: reads the account's data, decides with the pure rule `decideCreations`, and writes the row with its unit and counters. If
 * the data has changed since the read, the creation has lost a race: nothing is written, and it is read and decided again after a short
 * pause.
 *
 * Requests that arrive together share both round trips. A request for an account with a batch in progress waits for the account's next
 * batch, so requests of a process lose no races against each other.
 *
 * @throws Error if it loses all races for `RACES_MS_MAX`. Nothing was written then
 */
export async function createSend(database: Database, send: NewSend): Promise<Creation> {
  const decision = await getCreator(database)(send);
  if (decision.outcome !== 'existing') return decision;
  const existing = await findSend(database, { id: decision.id });
  if (existing === undefined) throw new Error('the send of an idempotency key was deleted');
  return { outcome: 'existing', send: existing };
}

/** The decisions on the creations of an account, or `lost` if another transaction changed or locked it: nothing was written for it. */
type AccountEnd = CreationDecision[] | 'lost';

/**
 * Returns the creator of sends, with two levels of batches. Each account has a batcher, which collects its requests while its previous
 * batch runs. The batches of up to `ACCOUNTS_MAX` accounts share statements.
 */
const getCreator = oncePerClient((database: Database) => {
  /** Creates the sends of several accounts together. */
  const create = createBatcher((accounts: (readonly NewSend[])[]) => createSends(database, accounts), {
    batchSizeMax: ACCOUNTS_MAX,
    concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
  });
  /** Creates sends of one account, and tries again after a lost race. */
  const createForAccount = async (sends: readonly NewSend[]): Promise<CreationDecision[]> => {
    const endsAt = performance.now() + RACES_MS_MAX;
    for (let lostRaces = 1; ; lostRaces += 1) {
      const end = await create(sends);
      if (end !== 'lost') return end;
      if (performance.now() > endsAt)
        throw new Error('could not create sends: other transactions keep the account locked');
      await pauseAfterLostRace(lostRaces);
    }
  };
  /** Each account's batcher. If it is evicted while in use, the account's next batch may lose a race against the current one. */
  const batchers = new LRUCache<string, (send: NewSend) => Promise<CreationDecision>>({
    max: ACCOUNTS_KEPT_MAX,
    memoMethod: () => createBatcher(createForAccount, { batchSizeMax: CREATIONS_MAX }),
  });
  return (send: NewSend): Promise<CreationDecision> => batchers.memo(send.accountId)(send);
});

/** Creates sends. @param accounts the sends of each account */
async function createSends(
  database: Database,
  accounts: readonly (readonly NewSend[])[],
): Promise<AccountEnd[]> {
  const sends = accounts.flat();
  await moveIdentities(database, sends);
  const states = await readCreations(database, sends);
  const { decisions, created } = decideCreations(sends, states);
  const lost = await writeCreations(database, created);
  return accounts.map((own) => {
    const end = decisions.splice(0, own.length);
    return own.some(({ accountId }) => lost.has(accountId)) ? 'lost' : end;
  });
}
