import type { TakenSend } from '@onecode/store';
import type { WorkerContext } from './context.js';
import { deliverTaken, type DeliveryRound } from './deliver.js';
import { jobEnd } from './jobEnd.js';
import { simulate } from './simulate.js';

/** How long a new send is left to its job. */
const JOB_WAIT_MS = 2_000;

/** Deliveries without a job. */
export interface DueDeliveries {
  /** Starts the deliveries of what is due and of sends that waited for a sender, until nothing more may go out now. */
  round(): Promise<void>;
  /** Waits for those under way. */
  ended(): Promise<void>;
}

/** @param concurrencyMax how many may be under way */
export function createDueDeliveries(context: WorkerContext, concurrencyMax: number): DueDeliveries {
  const { deliveries, deliveryQueue, metrics, log } = context;
  const underWay = new Set<Promise<void>>();

  const start = (taken: TakenSend): void => {
    const { id } = taken.send;
    const delivery = deliverTaken(context, id, { taken, beganAt: performance.now() })
      .then((round) => tell(id, round))
      .catch((error: unknown) => log.error({ err: error, send_id: id }, 'a delivery failed'))
      .finally(() => underWay.delete(delivery));
    underWay.add(delivery);
  };
  const tell = async (sendId: string, round: DeliveryRound): Promise<void> => {
    const { end } = round;
    metrics.deliveries.inc({ end: end.kind === 'failed' ? end.reason : end.kind });
    // Its job, which names the end, is on the queue board for whoever should look.
    if (end.kind === 'failed' && jobEnd(round).isFailure)
      await deliveryQueue.enqueue('deliver', [{ sendId }]);
  };

  return {
    async round() {
      for (;;) {
        const room = concurrencyMax - underWay.size;
        if (room === 0) {
          await Promise.race(underWay);
          continue;
        }
        const taken = await deliveries.takeDue(room, deliveryQueue.isReady() ? JOB_WAIT_MS : 0);
        // crash point: worker after taking
        const claimed = taken.filter(({ outcome }) => outcome === 'claimed');
        for (const one of claimed) start(one);
        metrics.dueDeliveries.inc(claimed.length);
        // Before the next look, which would find the same ones.
        for (const { send, outcome } of taken) {
          if (outcome !== 'over') continue;
          if (send.mode === 'test') await simulate(context, send.id);
          else await tell(send.id, await deliverTaken(context, send.id, undefined));
        }
        if (taken.length === 0) return;
      }
    },
    ended: async () => void (await Promise.all(underWay)),
  };
}
