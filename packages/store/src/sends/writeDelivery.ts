import { createBatcher, oncePerClient, OVERLAPPING_BATCHES_MAX } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { isFailure, REFUNDED, updateSends, type Change } from './updateSends.js';

/** Writes the result of a delivery, with its attempts and the refund of a failure. @returns whether the row still had the version */
export function writeDelivery(database: Database, change: Change): Promise<boolean> {
  return isFailure(change) ? writeFailure(database, change) : getBatcher(database)(change);
}

/** A batch locks the rows of its sends until it commits. */
const CHANGES_MAX = 100;

/** If a batch has two changes of one send, only the first is tried. */
const getBatcher = oncePerClient((database: Database) =>
  createBatcher(
    async (changes: Change[]) => {
      const first = new Map(changes.toReversed().map((change) => [change.before.id, change]));
      const written = await database.sql.query<{ id: string }[]>`
        with ${updateSends([...first.values()])} select id from changed`;
      const ids = new Set(written.map(({ id }) => id));
      return changes.map((change) => first.get(change.before.id) === change && ids.has(change.before.id));
    },
    { batchSizeMax: CHANGES_MAX, concurrentBatchesMax: OVERLAPPING_BATCHES_MAX },
  ),
);

/** Writes a failure with its refund in one statement. */
async function writeFailure(database: Database, change: Change): Promise<boolean> {
  const written = await database.sql.query<{ id: string }[]>`
    with ${updateSends([change])}, ${REFUNDED} select id from changed`;
  return written.length === 1;
}
