import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Database } from './database.js';
import { refusedBy } from './sql.js';

interface Pending<Request, Result> {
  request: Request;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface BatchLimits {
  batchSizeMax: number;
  /** More than one lets the next batch start beside one that is overdue; else it waits for its end. */
  concurrentBatchesMax?: number;
}

/** So many let no batch that waits, for somebody's lock, a slow disk or a silent connection, hold up the next one. */
export const OVERLAPPING_BATCHES_MAX = 3;

/** What so many requests take at the most where nothing is in their way: an idle caller waits little, and a busy one shares more. */
const overdueAfterMs = (requests: number): number => 2 + requests;

/**
 * Batches requests: those that arrive in one turn of the event loop, or while a batch is under way, share the next round trip. A busy
 * caller makes few round trips, and an idle one waits for nothing but the end of the turn. When the database refuses a batch for what
 * is in it, each of its requests runs alone, so that only the faulty one fails; when the database is away, all of them fail.
 *
 * @param run returns one result for each request, in their order
 */
export function createBatcher<Request, Result>(
  run: (requests: Request[]) => Promise<Result[]>,
  { batchSizeMax, concurrentBatchesMax = 1 }: BatchLimits,
): (request: Request) => Promise<Result> {
  const queue: Pending<Request, Result>[] = [];
  let underWay = 0;
  /** The batch that the next one waits for: neither done nor overdue. */
  let awaited: object | null = null;

  const runBatch = async (batch: readonly Pending<Request, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ request }) => request));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isRefusal(error)) for (const one of batch) await runBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const startNext = async (): Promise<void> => {
    if (queue.length === 0 || awaited !== null || underWay >= concurrentBatchesMax) return;
    const self = {};
    const release = (): void => {
      if (awaited === self) awaited = null;
      void startNext();
    };
    awaited = self;
    underWay += 1;
    // Requests that one read of a socket brought belong together: otherwise the first goes alone and the rest wait for it.
    await endOfTurn();
    const batch = queue.splice(0, batchSizeMax);
    const timer = setTimeout(release, overdueAfterMs(batch.length));
    await runBatch(batch);
    clearTimeout(timer);
    underWay -= 1;
    release();
  };

  return (request) =>
    new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject });
      void startNext();
    });
}

/**
 * Whether PostgreSQL undid a statement because of its values or of somebody in its way, by the classes of SQLSTATE: data (22),
 * integrity (23), rollback (40), raised (P0), in use (55), and cancelled for its time (57014). A statement without an answer may have
 * been done.
 */
function isRefusal(error: unknown): boolean {
  return /^(?:22|23|40|P0|55|57014)/.test(refusedBy(error)?.code ?? '');
}

/** A row of a batch's answer, with the ordinal of its request, from 1. */
export type WithOrdinal<Row> = Row & { ordinal: bigint };

/** The row of each request, in the order of the requests. */
export function byOrdinal<Row>(
  requests: readonly unknown[],
  rows: readonly WithOrdinal<Row>[],
): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [Number(row.ordinal), row]));
  return requests.map((_, index) => found.get(index + 1));
}

const LOOK_UPS_MAX = 200;

/**
 * Returns a look-up whose requests, while another is under way, share the next round trip.
 *
 * @param read returns the rows that it found
 * @returns finds the row of a request, or undefined
 */
export function createLookUp<Request, Row>(
  read: (database: Database, requests: Request[]) => Promise<WithOrdinal<Row>[]>,
): (database: Database, request: Request) => Promise<Row | undefined> {
  const batcherOf = oncePerClient((database: Database) =>
    createBatcher(async (requests: Request[]) => byOrdinal(requests, await read(database, requests)), {
      batchSizeMax: LOOK_UPS_MAX,
      concurrentBatchesMax: OVERLAPPING_BATCHES_MAX,
    }),
  );
  return (database, request) => batcherOf(database)(request);
}

/** Makes something once for each client, and keeps it as long as the client. */
export function oncePerClient<Client extends object, T>(make: (client: Client) => T): (client: Client) => T {
  const made = new WeakMap<Client, T>();
  return (client) => {
    const known = made.get(client);
    if (known !== undefined) return known;
    const one = make(client);
    made.set(client, one);
    return one;
  };
}
