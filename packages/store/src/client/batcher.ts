import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database.js';
import { readSqlState } from './errors.js';

interface Pending<Request, Result> {
  request: Request;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** With three concurrent batches, a batch that waits for a lock, a slow disk or a silent connection does not delay the next one. */
export const OVERLAPPING_BATCHES_MAX = 3;

/** Milliseconds after which a batch counts as overdue: the longest time that a batch of this size takes when nothing delays it. */
const overdueAfterMs = (requests: number): number => 2 + requests;

/**
 * Returns a function that batches requests. Requests that arrive in one turn of the event loop, or while a batch runs, share a round trip.
 * If PostgreSQL rejects a batch for its values, a lock or a time-out, its requests run again one by one, so that only the faulty one fails.
 * If the connection fails, all requests of the batch fail.
 *
 * @param run returns one result for each request, in their order
 * @param concurrentBatchesMax batches that may run at once. Above 1, the next batch starts when the current one is overdue
 */
export function createBatcher<Request, Result>(
  run: (requests: Request[]) => Promise<Result[]>,
  { batchSizeMax, concurrentBatchesMax = 1 }: { batchSizeMax: number; concurrentBatchesMax?: number },
): (request: Request) => Promise<Result> {
  const waiting: Pending<Request, Result>[] = [];
  const underWay = new Set<Promise<void>>();
  let isStarting = false;
  let latest = Promise.resolve();
  /** When the latest batch is overdue, by `performance.now()`. */
  let overdueAt = 0;

  const runBatch = async (batch: readonly Pending<Request, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ request }) => request));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && wasRolledBack(error)) for (const one of batch) await runBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const startBatches = async (): Promise<void> => {
    if (isStarting) return;
    isStarting = true;
    while (waiting.length > 0) {
      const untilOverdueMs = overdueAt - performance.now();
      // Without the first condition, each batch would have a timer, which wakes an idle process.
      if (underWay.size > 0 && untilOverdueMs > 0)
        await Promise.race([latest, pause(untilOverdueMs, undefined, { ref: false })]);
      if (underWay.size >= concurrentBatchesMax) await Promise.race(underWay);
      // Collects all requests from one socket read. Otherwise the first request would run alone, and the others would wait for it.
      await endOfTurn();
      const batch = waiting.splice(0, batchSizeMax);
      const ended = runBatch(batch).finally(() => underWay.delete(ended));
      underWay.add(ended);
      latest = ended;
      overdueAt = performance.now() + overdueAfterMs(batch.length);
    }
    isStarting = false;
  };

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      void startBatches();
    });
}

/**
 * Returns whether PostgreSQL rolled back a statement, by SQLSTATE: data (22), integrity (23), rollback (40), raised (P0), lock not
 * available (55), cancelled (57014). A statement without a response may have been committed.
 */
function wasRolledBack(error: unknown): boolean {
  return /^(?:22|23|40|P0|55|57014)/.test(readSqlState(error) ?? '');
}

/** A row of a batch's result, with the ordinal of its request, from 1. */
export type WithOrdinal<Row> = Row & { ordinal: bigint };

/** Returns the row of each request, in the order of the requests. */
export function byOrdinal<Row>(
  requests: readonly unknown[],
  rows: readonly WithOrdinal<Row>[],
): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [Number(row.ordinal), row]));
  return requests.map((_, index) => found.get(index + 1));
}

const LOOK_UPS_MAX = 200;

/**
 * Returns a look-up function. Requests that arrive during another look-up share the next round trip.
 *
 * @param read returns the rows found
 * @returns a function that returns the row of a request, or undefined
 */
export function createLookUp<Request, Row>(
  read: (database: Database, requests: Request[]) => Promise<WithOrdinal<Row>[]>,
): (database: Database, request: Request) => Promise<Row | undefined> {
  const getBatcher = oncePerClient((database: Database) =>
    createBatcher(async (requests: Request[]) => byOrdinal(requests, await read(database, requests)), {
      batchSizeMax: LOOK_UPS_MAX,
      concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
    }),
  );
  return (database, request) => getBatcher(database)(request);
}

/** Returns a function that calls `make` once per client and keeps the result for the client's lifetime. */
export function oncePerClient<Client extends object, T>(make: (client: Client) => T): (client: Client) => T {
  const made = new WeakMap<Client, T>();
  return (client) => {
    if (!made.has(client)) made.set(client, make(client));
    return made.get(client) as T;
  };
}
