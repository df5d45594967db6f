import { createBatcher } from '../client/batcher.js';
import type { Database } from '../client/database.js';
import { EXPECTED_IDENTITY } from './identities.js';
import { sendColumns, type SendRow } from './sendRow.js';

/** A send that `take_deliveries` has claimed. `identityHash` is Meta's hash of the required owner of the number, or null. */
export type ClaimedSend = SendRow & {
  /** Milliseconds until the one call that the caller may make. */
  waitMs: number;
  /** When the lease ends, by `performance.now()`, which also advances while this process is frozen. */
  leaseEndMs: number;
  identityHash: string | null;
};

/** A send after `take_deliveries`. It is not claimed if `waitMs` is null. */
export type TakenSend = ClaimedSend | (SendRow & { waitMs: null });

/** Claims live sends for this worker, see `take_deliveries`. */
export type Deliveries = ReturnType<typeof openDeliveries>;

/** The most sends in one batch: other workers wait until it commits. */
const TAKEN_MAX = 100;

/** Returns the functions that claim sends. @param leaseMs how long a claim lasts, counted from its permit */
export function openDeliveries(database: Database, leaseMs: number) {
  const take = (ids: readonly string[] | null, limit: number): Promise<TakenSend[]> =>
    database.sql.query`
      -- The end of the lease is a column: adding it to the driver's rows takes 5 µs each, and 15 µs for each later copy of a row.
      select ${sendColumns('(t.send)')}, t.wait_ms as "waitMs", ${performance.now() + leaseMs}::float8 + t.wait_ms as "leaseEndMs",
        case when t.wait_ms is not null then ${EXPECTED_IDENTITY} end as "identityHash"
      from take_deliveries(${ids}::uuid[], ${limit}::integer, ${leaseMs} * interval '1 millisecond') t`;
  return {
    /** Takes the send of a job, in one batch with concurrent calls. Returns undefined if it does not exist, is locked, or another call got it. */
    take: createBatcher(
      async (ids: string[]) => {
        const taken = new Map((await take([...new Set(ids)], ids.length)).map((one) => [one.id, one]));
        // If two calls in a batch name the same send, only the first gets it.
        return ids.map((id) => {
          const one = taken.get(id);
          taken.delete(id);
          return one;
        });
      },
      { batchSizeMax: TAKEN_MAX },
    ),
    /**
     * Takes due sends, oldest first, then sends that wait for a sender, in the order of their accounts' turns. New sends are left to their
     * jobs for two seconds.
     */
    takeDue: (limit: number) => take(null, Math.min(limit, TAKEN_MAX)),
  };
}
