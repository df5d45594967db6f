import { decideCreations, type CreationDecision, type NewSend } from '@onecode/domain';
import { LRUCache } from 'lru-cache';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Connection, Database } from '../client/database.js';
import { readSqlState } from '../client/errors.js';
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
/** After this many lost races, an account's row is locked before it is read. */
const LOST_RACES_MAX = 3;
/** PostgreSQL's SQLSTATE after the statement time-out. */
const STATEMENT_TIMED_OUT = '57014';

/**
 * Creates a send: reads the account's data, decides with the pure rule `decideCreations`, and writes the row with its unit and counters. If
 * the data has changed since the read, the creation has lost a race: nothing is written, and it is read and decided again. After a few lost
 * races, the account's row is locked before the read.
 *
 * Requests that arrive together share both round trips. A request for an account with a batch in progress waits for the account's next
 * batch, so requests of a process lose no races against each other.
 *
 * @throws Error if another transaction keeps the account locked for longer than the statement time-out. Nothing was written then
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
    for (let lostRaces = 0; lostRaces < LOST_RACES_MAX; lostRaces += 1) {
      const end = await create(sends);
      if (end !== 'lost') return end;
    }
    return createLocked(database, sends);
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
  connection: Connection,
  accounts: readonly (readonly NewSend[])[],
): Promise<AccountEnd[]> {
  const sends = accounts.flat();
  await moveIdentities(connection, sends);
  const states = await readCreations(connection, sends);
  const { decisions, created } = decideCreations(sends, states);
  const lost = await writeCreations(connection, created);
  return accounts.map((own) => {
    const end = decisions.splice(0, own.length);
    return own.some(({ accountId }) => lost.has(accountId)) ? 'lost' : end;
  });
}

/**
 * Creates sends of one account under the lock of its row, for which it waits until the statement time-out. Tries again if a key has
 * changed, or the daily limit of trial sends was used up, since the read.
 */
async function createLocked(database: Database, sends: readonly NewSend[]): Promise<CreationDecision[]> {
  try {
    return await database.transaction(async (connection) => {
      await connection.sql
        .execute`select from accounts where id = ${sends[0]?.accountId}::uuid for no key update`;
      for (;;) {
        const [end = 'lost'] = await createSends(connection, [sends]);
        if (end !== 'lost') return end;
      }
    });
  } catch (error) {
    // The new error has no SQLSTATE, so the batcher does not repeat the requests one by one, each with another wait for the lock.
    if (readSqlState(error) === STATEMENT_TIMED_OUT)
      throw new Error('could not create sends: another transaction keeps the account locked', {
        cause: error,
      });
    throw error;
  }
}
