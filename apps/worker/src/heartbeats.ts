import { newId, recordHeartbeat, type Database, type LoopName } from '@onecode/store';

/** Rounds come faster than anybody wants to know of. */
const NOTED_MS = 2_000;

/** Wraps the rounds of a worker's loops so that the database knows when each last ended well, at most every two seconds. */
export function withHeartbeats(
  database: Database,
): (loop: LoopName, round: () => Promise<void>) => () => Promise<void> {
  const workerId = newId();
  return (loop, round) => {
    let notedAt = -Infinity;
    return async () => {
      await round();
      if (performance.now() - notedAt < NOTED_MS) return;
      await recordHeartbeat(database, loop, workerId);
      notedAt = performance.now();
    };
  };
}
