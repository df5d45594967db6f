import { decideCreations, type CreatedDecision, type CreationDecision, type Send } from '@onecode/domain';
import pLimit from 'p-limit';
import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX, wasRolledBack } from '../client/batcher.js';
import type { Connection, Database } from '../client/database.js';
import { readSqlState } from '../client/errors.js';
import { moveIdentities } from './identities.js';
import type { NewSend } from './newSend.js';
import { readCreations } from './readCreations.js';
import { findSend } from './readSend.js';
import { writeCreations } from './writeCreations.js';

/** How a creation ended. `now` is the database's clock. */
export type Creation =
  | { outcome: 'created'; send: Send; now: Date; windows: CreatedDecision['windows'] }
  | { outcome: 'existing'; send: Send; now: Date }
  | Exclude<CreationDecision, { outcome: 'created' | 'existing' | 'twin' }>;

/** Another transaction held the account's lock for longer than a request waits. Nothing was written. */
export class AccountBusy extends Error {
  constructor() {
    super('the account is locked by another transaction');
  }
}

/** Creations in one batch. Their accounts are locked while it is written. */
const CREATIONS_MAX = 50;
/** After this many lost races, an account's row is locked before it is read. */
const LOST_RACES_MAX = 3;
const LOCK_WAIT_MS = 3_000;
/** The maximum number of waits for accounts' locks at a time. Each wait occupies a connection. */
const LOCK_WAITS_MAX = 4;

/**
 * Creates a send: reads what the creation depends on, asks the pure rule `decideCreations`, and writes the row with its unit and counters
 * if the account has not changed in between. Otherwise it reads and decides again. Requests that arrive together share both round trips.
 * Requests for an account with a batch in progress in this process wait for the account's next batch, so only other processes can change an
 * account in between. After a few lost races the account's row is locked first.
 *
 * @throws AccountBusy when the account stays locked for some seconds
 */
export function createSend(database: Database, send: NewSend): Promise<Creation> {
  return creatorOf(database)(send);
}

interface Pending {
  send: NewSend;
  resolve: (creation: Creation | Promise<Creation>) => void;
  reject: (error: unknown) => void;
}

/** An account's requests: those in the current batch, and those for later batches. */
interface AccountQueue {
  underWay: Pending[];
  waiting: Pending[];
}

const creatorOf = oncePerClient((database: Database) => {
  const queues = new Map<string, AccountQueue>();
  const limitLocks = pLimit(LOCK_WAITS_MAX);
  const create = createBatcher(
    async (batch: AccountQueue[]) => {
      for (const queue of batch) takeBatch(queue, Math.ceil(CREATIONS_MAX / batch.length));
      const ends = await createSends(database, batch.flatMap(sendsOf));
      return batch.map((queue) => ends.splice(0, queue.underWay.length));
    },
    { batchSizeMax: CREATIONS_MAX, concurrentBatchesMax: OVERLAPPING_BATCHES_MAX },
  );
  /** Creates the next requests of an account, and repeats them after a lost race. All of them lose a race together, or none does. */
  const createNext = async (accountId: string, queue: AccountQueue): Promise<End[]> => {
    for (let lostRaces = 0; ; lostRaces += 1) {
      const ends =
        lostRaces < LOST_RACES_MAX
          ? await create(queue)
          : await limitLocks(() => createLocked(database, accountId, sendsOf(queue)));
      if (ends[0] !== 'lost') return ends as End[];
    }
  };
  /** Creates the next requests of an account, and one by one if one of them caused a rollback, so that only the faulty one fails. */
  const runNext = async (accountId: string, queue: AccountQueue): Promise<void> => {
    try {
      const ends = await createNext(accountId, queue);
      for (const [index, { resolve }] of queue.underWay.entries())
        resolve(finish(database, accountId, ends[index] as End));
    } catch (error) {
      const batch = queue.underWay;
      if (batch.length > 1 && wasRolledBack(error))
        for (const one of batch) await runNext(accountId, Object.assign(queue, { underWay: [one] }));
      else for (const { reject } of batch) reject(error);
      if (error instanceof AccountBusy) for (const { reject } of queue.waiting.splice(0)) reject(error);
    }
    queue.underWay = [];
  };
  const runQueue = async (accountId: string, queue: AccountQueue): Promise<void> => {
    while (queue.waiting.length > 0) await runNext(accountId, queue);
    queues.delete(accountId);
  };
  return (send: NewSend): Promise<Creation> =>
    new Promise((resolve, reject) => {
      const pending = { send, resolve, reject };
      const known = queues.get(send.accountId);
      if (known !== undefined) return void known.waiting.push(pending);
      const queue = { underWay: [], waiting: [pending] };
      queues.set(send.accountId, queue);
      void runQueue(send.accountId, queue);
    });
});

const sendsOf = ({ underWay }: AccountQueue): NewSend[] => underWay.map(({ send }) => send);

/** Takes the next requests of an account. Requests that lost a race, or run alone, stay in the batch. */
function takeBatch(queue: AccountQueue, sizeMax: number): void {
  if (queue.underWay.length === 0) queue.underWay = queue.waiting.splice(0, sizeMax);
}

/** The result of a creation in a batch. */
type End =
  Extract<Creation, { outcome: 'created' }> | Exclude<CreationDecision, { outcome: 'created' | 'twin' }>;

/** @returns `lost` for all requests of an account that was changed between read and write: nothing was written for it */
async function createSends(connection: Connection, sends: readonly NewSend[]): Promise<(End | 'lost')[]> {
  await moveIdentities(connection, sends);
  const { now, requests, states } = await readCreations(connection, sends);
  const { decisions, accounts } = decideCreations(requests, states, now);
  const written = await writeCreations(connection, { sends, states, decisions, accounts, now });
  return decisions.map((decision, place) => {
    const send = sends[place] as NewSend;
    if ((accounts.get(send.accountId)?.sends ?? 0) > 0 && !written.has(send.accountId)) return 'lost';
    switch (decision.outcome) {
      case 'created':
        return {
          outcome: 'created',
          send: createdSend(send, decision, now),
          now: new Date(now),
          windows: decision.windows,
        };
      case 'twin':
        return { outcome: 'existing', id: (sends[decision.place] as NewSend).id };
      default:
        return decision;
    }
  });
}

/** Creates sends of one account under the lock of its row. @throws AccountBusy */
function createLocked(
  database: Database,
  accountId: string,
  sends: readonly NewSend[],
): Promise<(End | 'lost')[]> {
  const applicationIds = sends.map((send) => send.applicationId);
  return database.transaction(async (connection) => {
    await connection.sql.execute`select set_config('lock_timeout', ${String(LOCK_WAIT_MS)}, true)`;
    await connection.sql.execute`
      select from accounts a join applications p on p.account_id = a.id
      where a.id = ${accountId}::uuid and p.id = any(${applicationIds}::uuid[]) order by p.id for no key update of a, p`.catch(
      (error: unknown) => {
        throw readSqlState(error) === '55P03' ? new AccountBusy() : error;
      },
    );
    return createSends(connection, sends);
  });
}

async function finish(database: Database, accountId: string, end: End): Promise<Creation> {
  if (end.outcome !== 'existing') return end;
  const existing = await findSend(database, accountId, end.id);
  if (existing === null) throw new Error('the send of an idempotency key was deleted');
  return { outcome: 'existing', ...existing };
}

/** The send as `writeCreations` inserts it. */
function createdSend(
  {
    id,
    accountId,
    applicationId,
    recipient,
    country,
    codeHash,
    encryptedCode,
    requestId,
    traceparent,
  }: NewSend,
  { mode, locale, chargedFrom, expiresAt, isWaiting }: CreatedDecision,
  now: number,
): Send {
  const end = new Date(expiresAt);
  const createdAt = new Date(now);
  return {
    id,
    accountId,
    applicationId,
    mode,
    recipient,
    country,
    locale,
    chargedFrom,
    codeHash,
    encryptedCode,
    createdAt,
    expiresAt: end,
    requestId,
    traceparent,
    // Each field is named, because an object made by spreading so many fields is slow to create and to read.
    status: 'queued',
    verification: 'pending',
    wrongGuesses: 0,
    channel: null,
    from: null,
    senderId: null,
    attempts: 0,
    attemptNumber: 0,
    claimedAt: null,
    claimedUntil: null,
    receiptUntil: null,
    phase: isWaiting ? 'waiting' : 'ready',
    dueAt: isWaiting ? end : createdAt,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    verifiedAt: null,
    lockedAt: null,
    failedAt: null,
    failureReason: null,
  };
}
