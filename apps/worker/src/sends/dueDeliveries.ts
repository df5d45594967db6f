import type { TakenSend } from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';
import { deliverTaken } from './deliver.js';
import { simulate } from './simulate.js';

/** How long a new send is left to its job. */
const JOB_WAIT_MS = 2_000;

/** Deliveries without a job. */
export interface DueDeliveries {
  /** Starts deliveries of due and waiting sends until none can be sent now. */
  round(): Promise<void>;
  /** Waits for the deliveries in progress. */
  ended(): Promise<void>;
}

/**
 * @param hasJobs whether Redis is connected, so that jobs wake workers for new sends
 * @param concurrencyMax deliveries without a job at a time; jobs have a limit of their own
 */
export function createDueDeliveries(
  context: WorkerContext,
  hasJobs: () => boolean,
  concurrencyMax: number,
): DueDeliveries {
  const { deliveries, metrics, log } = context;
  const underWay = new Set<Promise<unknown>>();

  const start = (taken: TakenSend): void => {
    const { id } = taken.send;
    const delivery = deliverTaken(context, id, { taken, beganAt: performance.now() })
      .catch((error: unknown) => log.error({ err: error, send_id: id }, 'a delivery failed'))
      .finally(() => underWay.delete(delivery));
    underWay.add(delivery);
  };

  return {
    async round() {
      for (;;) {
        const room = concurrencyMax - underWay.size;
        if (room === 0) {
          await Promise.race(underWay);
          continue;
        }
        const taken = await deliveries.takeDue(room, hasJobs() ? JOB_WAIT_MS : 0);
        // crash point: worker after taking
        const claimed = taken.filter(({ outcome }) => outcome === 'claimed');
        for (const one of claimed) start(one);
        metrics.dueDeliveries.inc(claimed.length);
        // Before the next takeDue, which would return the same sends.
        for (const { send, outcome } of taken) {
          if (outcome !== 'over') continue;
          if (send.mode === 'test') await simulate(context, send.id);
          else await deliverTaken(context, send.id, undefined);
        }
        if (taken.length === 0) return;
      }
    },
    ended: async () => void (await Promise.all(underWay)),
  };
}
