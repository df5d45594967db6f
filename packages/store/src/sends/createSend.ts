import { decideCreations, type CreatedDecision, type CreationDecision, type Send } from '@onecode/domain';
import { LRUCache } from 'lru-cache';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Connection, Database } from '../client/database.js';
import { readSqlState } from '../client/errors.js';
import { moveIdentities } from './identities.js';
import { readCreations } from './readCreations.js';
import { findSend } from './sendRow.js';
import { writeCreations, type NewSend } from './writeCreations.js';

/** The fields of a new send that its response and its delivery need. The other fields that a response shows are null. */
export type CreatedSend = Pick<
  Send,
  'id' | 'mode' | 'status' | 'phase' | 'verification' | 'traceparent' | 'createdAt' | 'expiresAt'
>;

/** How a creation ended. `now` is the database's clock. */
export type Creation =
  | { outcome: 'created'; send: CreatedSend; now: Date; windows: CreatedDecision['windows'] }
  | { outcome: 'existing'; send: Send; now: Date }
  | Exclude<CreationDecision, { outcome: 'created' | 'existing' }>;

/**
 * The maximum number of creations of one account in a batch, and of accounts in a batch. The accounts are locked while a batch is written.
 */
const CREATIONS_MAX = 50;
const ACCOUNTS_MAX = 25;
/** The maximum number of batchers that are kept, one for each account. */
const ACCOUNTS_KEPT_MAX = 10_000;
/** After this many lost races, an account's row is locked before it is read. */
const LOST_RACES_MAX = 3;
/** Less than the API's statement timeout, after which a batch would be repeated one by one. */
const LOCK_WAIT_MS = 1_000;

/**
 * Creates a send: reads what the creation depends on, decides with the pure rule `decideCreations`, and writes the row with its unit and
 * counters if the account has not changed in between. Otherwise it reads and decides again. Requests that arrive together share both round
 * trips. Requests for an account with a batch in progress in this process wait for the account's next batch, so they lose no races against
 * each other. After a few lost races the account's row is locked first.
 *
 * @throws if another transaction holds the account's lock for a second. Nothing was written then
 */
export async function createSend(database: Database, send: NewSend): Promise<Creation> {
  const end = await getCreator(database)(send);
  if (end.outcome !== 'existing') return end;
  const existing = await findSend(database, { id: end.id });
  if (existing === undefined) throw new Error('the send of an idempotency key was deleted');
  return { outcome: 'existing', send: existing, now: existing.now };
}

const getCreator = oncePerClient((database: Database) => {
  /** Creates the sends of several accounts together. */
  const create = createBatcher(
    async (accounts: (readonly NewSend[])[]) => {
      const ends = await createSends(database, accounts.flat());
      return accounts.map((sends) => ends.splice(0, sends.length));
    },
    { batchSizeMax: ACCOUNTS_MAX, concurrentBatchesMax: OVERLAPPING_BATCHES_MAX },
  );
  /** Creates sends of one account. After a lost race it tries again: all of them lose a race together, or none does. */
  const createForAccount = async (sends: readonly NewSend[]): Promise<End[]> => {
    for (let lostRaces = 0; ; lostRaces += 1) {
      const ends = lostRaces < LOST_RACES_MAX ? await create(sends) : await createLocked(database, sends);
      if (ends[0] !== 'lost') return ends as End[];
    }
  };
  /** Each account's batcher. If it is evicted while in use, the account's next batch may lose a race against the current one. */
  const batchers = new LRUCache<string, (send: NewSend) => Promise<End>>({
    max: ACCOUNTS_KEPT_MAX,
    memoMethod: () => createBatcher(createForAccount, { batchSizeMax: CREATIONS_MAX }),
  });
  return (send: NewSend): Promise<End> => batchers.memo(send.accountId)(send);
});

/** The result of a creation in a batch. */
type End = Extract<Creation, { outcome: 'created' }> | Exclude<CreationDecision, { outcome: 'created' }>;

/** @returns `lost` for all requests of an account that was changed between read and write: nothing was written for it */
async function createSends(connection: Connection, sends: readonly NewSend[]): Promise<(End | 'lost')[]> {
  await moveIdentities(connection, sends);
  const { now, states } = await readCreations(connection, sends);
  const { decisions, accounts } = decideCreations(sends, states, now);
  const written = await writeCreations(connection, accounts, now);
  const time = new Date(now);
  return sends.map((send, index) => {
    const decision = decisions[index] as CreationDecision;
    if ((accounts.get(send.accountId)?.sends ?? 0) > 0 && !written.has(send.accountId)) return 'lost';
    return decision.outcome === 'created'
      ? {
          outcome: 'created',
          send: createdSend(send, decision, time),
          now: time,
          windows: decision.windows,
        }
      : decision;
  });
}

/** Creates sends of one account under the lock of its row. */
function createLocked(database: Database, sends: readonly NewSend[]): Promise<(End | 'lost')[]> {
  const accountId = sends[0]?.accountId;
  const applicationIds = sends.map((send) => send.applicationId);
  return database.transaction(async (connection) => {
    await connection.sql.execute`select set_config('lock_timeout', ${String(LOCK_WAIT_MS)}, true)`;
    await connection.sql.execute`
      select from accounts a join applications p on p.account_id = a.id
      where a.id = ${accountId}::uuid and p.id = any(${applicationIds}::uuid[]) order by p.id for no key update of a, p`.catch(
      (error: unknown) => {
        // An error without an SQLSTATE: the batch is not repeated one by one, with a wait for each request.
        throw readSqlState(error) === '55P03'
          ? new Error('the account is locked by another transaction')
          : error;
      },
    );
    return createSends(connection, sends);
  });
}

/** Returns the new send, as `writeCreations` inserts it. */
const createdSend = (
  { id, traceparent }: NewSend,
  { mode, expiresAt, isWaiting }: CreatedDecision,
  createdAt: Date,
): CreatedSend => ({
  id,
  mode,
  traceparent,
  createdAt,
  expiresAt: new Date(expiresAt),
  status: 'queued',
  phase: isWaiting ? 'waiting' : 'ready',
  verification: 'pending',
});
