import { setTimeout as pause } from 'node:timers/promises';
import type { TakenSend } from '@onecode/store/sends';
import { RUN_MS_MAX, type WorkerContext } from '../context.js';
import { deliverTaken } from './deliver.js';

/** Deliveries without a job. */
export type DueDeliveries = ReturnType<typeof createDueDeliveries>;

/**
 * Creates the deliverer of sends without a job.
 *
 * @param concurrencyMax concurrent deliveries without a job; jobs have their own limit
 */
export function createDueDeliveries(context: WorkerContext, concurrencyMax: number) {
  const { deliveries, metrics, log } = context;
  const active = new Set<Promise<unknown>>();
  let hasMore = false;

  const start = (taken: TakenSend): void => {
    const delivery = deliverTaken(context, taken)
      .catch((error: unknown) => log.error({ err: error, send_id: taken.id }, 'delivery failed'))
      .finally(() => active.delete(delivery));
    active.add(delivery);
  };

  return {
    /**
     * Starts deliveries of due and waiting sends. While there is no room for another delivery, waits for `RUN_MS_MAX` at most.
     *
     * @param stopping starts no more deliveries
     */
    async run(stopping: AbortSignal): Promise<void> {
      hasMore = false;
      if (active.size >= concurrencyMax)
        await Promise.race([...active, pause(RUN_MS_MAX, undefined, { ref: false })]);
      const room = stopping.aborted ? 0 : concurrencyMax - active.size;
      const taken = room === 0 ? [] : await deliveries.takeDue(room);
      // crash point: worker after taking
      const claimed = taken.filter(({ waitMs }) => waitMs !== null);
      for (const one of claimed) start(one);
      metrics.dueDeliveries.inc(claimed.length);
      // Waits for the other sends, which the next `takeDue` would otherwise return again.
      const unclaimed = taken.filter(({ waitMs }) => waitMs === null);
      const ends = await Promise.allSettled(unclaimed.map((one) => deliverTaken(context, one)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      hasMore = room === 0 || taken.length > 0;
    },
    /** Returns whether more sends may be due after the last run. */
    hasMore: () => hasMore,
    /** Waits for the deliveries in progress. */
    ended: () => Promise.all(active),
  };
}
