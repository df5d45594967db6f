import type { Database } from '@onecode/store/client';
import { recordHeartbeat, type LoopName } from '@onecode/store/operations';

/** Half of the time after which the health page finds a loop late. */
const RECORDED_MS = 5_000;

/** Wraps the rounds of a worker's loops: a round that ends well records a heartbeat, at most every five seconds for each loop. */
export function withHeartbeats(
  database: Database,
  workerId: string,
): (loop: LoopName, round: () => Promise<void>) => () => Promise<void> {
  return (loop, round) => {
    let recordedAt = -Infinity;
    return async () => {
      await round();
      if (performance.now() - recordedAt < RECORDED_MS) return;
      if (await recordHeartbeat(database, loop, workerId)) recordedAt = performance.now();
    };
  };
}
