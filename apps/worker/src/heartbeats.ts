import type { Database } from '@onecode/store/client';
import { recordHeartbeat, type LoopName } from '@onecode/store/operations';

/** Half of the time after which the health page reports a loop as late. */
const RECORDED_MS = 5_000;

/** Returns a wrapper for loop runs: a run that succeeds records a heartbeat, at most once every five seconds for each loop. */
export function withHeartbeats(
  database: Database,
  workerId: string,
): (loop: LoopName, run: () => Promise<void>) => () => Promise<void> {
  return (loop, run) => {
    let recordedAt = -Infinity;
    return async () => {
      await run();
      if (performance.now() - recordedAt < RECORDED_MS) return;
      if (await recordHeartbeat(database, loop, workerId)) recordedAt = performance.now();
    };
  };
}
