import type { AttemptChange, Send } from '@onecode/domain';
import { createBatcher, OVERLAPPING_BATCHES } from '../client/batcher.js';
import { recordOf } from './sendRow.js';

/** A send as it is to be, if its row still has the version that was decided on. */
export interface Change {
  before: Send;
  after: Send;
  version: number;
  attempts: readonly AttemptChange[];
}

/** Their rows are locked while the batch lasts. */
const CHANGES_MAX = 100;

/**
 * Batches changes into one statement.
 *
 * @param write returns the ids of the sends whose rows still had the version
 * @returns a function that says whether its change was written. Of two changes of one send in a batch the first is tried; the second
 * has been overtaken then.
 */
export function createChangeBatcher(
  write: (changes: readonly Change[]) => Promise<{ id: string }[]>,
): (change: Change) => Promise<boolean> {
  return createBatcher(
    async (changes: Change[]) => {
      const first = new Map<string, Change>();
      for (const change of changes) if (!first.has(change.before.id)) first.set(change.before.id, change);
      const written = new Set((await write([...first.values()])).map(({ id }) => id));
      return changes.map((change) => first.get(change.before.id) === change && written.has(change.before.id));
    },
    { batchSizeMax: CHANGES_MAX, ...OVERLAPPING_BATCHES },
  );
}

/** The changes as JSON, for `json_to_recordset`: id, version, what the decision writes, and what the statement needs besides. */
export function recordsOf(
  changes: readonly Change[],
  furtherOf: (change: Change) => Record<string, unknown>,
): string {
  return JSON.stringify(
    changes.map((change) => ({
      id: change.before.id,
      version: change.version,
      ...recordOf(change.after),
      ...furtherOf(change),
    })),
  );
}
