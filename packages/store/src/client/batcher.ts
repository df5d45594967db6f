import { setImmediate as endOfTurn } from 'node:timers/promises';
import { refusedBy } from './sql.js';

interface Waiting<W, R> {
  want: W;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

interface Sharing {
  /** Of one call. */
  batchSizeMax: number;
  /** Milliseconds after which a call, which may wait for somebody's lock, keeps the next one waiting no longer. */
  releaseAfterMs?: number;
  /** Calls under way at a time, the impatient ones among them. */
  concurrentBatchesMax?: number;
}

/** How reads share their calls: one that waits, as on a connection that is silent, holds the next one up for so long only. */
export const READ_BATCHING: Pick<Sharing, 'releaseAfterMs' | 'concurrentBatchesMax'> = {
  releaseAfterMs: 20,
  concurrentBatchesMax: 3,
};

/**
 * Lets wants that come in together, or while a call is under way, share the next one, so that a busy caller makes few calls and an
 * idle one waits for nothing but the end of the event loop's turn. Where the database refuses a call for what stands in it, its wants
 * are called for one by one, so that one that is faulty fails alone; when the database is away, all of them fail.
 *
 * @param call answers one result for each want, in their order
 */
export function createBatcher<W, R>(
  call: (wants: W[]) => Promise<R[]>,
  { batchSizeMax, releaseAfterMs, concurrentBatchesMax = 1 }: Sharing,
): (want: W) => Promise<R> {
  const waiting: Waiting<W, R>[] = [];
  let underWay = 0;
  /** The call that the next one waits for. */
  let awaited: object | null = null;

  const serve = async (group: readonly Waiting<W, R>[]): Promise<void> => {
    try {
      const results = await call(group.map(({ want }) => want));
      for (const [place, { resolve }] of group.entries()) resolve(results[place] as R);
    } catch (error) {
      if (group.length > 1 && isRefusal(error)) for (const one of group) await serve([one]);
      else for (const { reject } of group) reject(error);
    }
  };
  const next = async (): Promise<void> => {
    if (waiting.length === 0 || awaited !== null || underWay >= concurrentBatchesMax) return;
    const mine = {};
    const goOn = (): void => {
      if (awaited === mine) awaited = null;
      void next();
    };
    awaited = mine;
    underWay += 1;
    // What came with one read of a socket goes together: the first would go alone otherwise, and the rest wait for it.
    await endOfTurn();
    const timer = releaseAfterMs === undefined ? undefined : setTimeout(goOn, releaseAfterMs);
    await serve(waiting.splice(0, batchSizeMax));
    clearTimeout(timer);
    underWay -= 1;
    goOn();
  };

  return (want) =>
    new Promise((resolve, reject) => {
      waiting.push({ want, resolve, reject });
      void next();
    });
}

/**
 * Whether the database took a statement back because of what stands in it or who was in its way, by the classes of SQLSTATE: data,
 * integrity, rollback, raised, in use, and cancelled for its time. What it did not answer may have been done.
 */
function isRefusal(error: unknown): boolean {
  return /^(?:22|23|40|P0|55|57014)/.test(refusedBy(error)?.code ?? '');
}

/** A row of a shared call's answer, with the ordinal of its request, from 1. */
export type WithOrdinal<Row> = Row & { ordinal: bigint };

/** The rows in the order of the wants. */
export function byOrdinal<Row>(
  wants: readonly unknown[],
  rows: readonly WithOrdinal<Row>[],
): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [Number(row.ordinal), row]));
  return wants.map((_, index) => found.get(index + 1));
}

/** As PostgreSQL reads bytes from a text: Prisma has no arrays of bytes. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

/** Makes something once for each database. */
export function oncePerClient<D extends object, T>(make: (database: D) => T): (database: D) => T {
  const made = new WeakMap<D, T>();
  return (database) => {
    const known = made.get(database);
    if (known !== undefined) return known;
    const one = make(database);
    made.set(database, one);
    return one;
  };
}
