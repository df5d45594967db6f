import { claim } from '@onecode/domain';
import {
  changeSend,
  deleteOldReceipts,
  newId,
  takeDueSends,
  wakeAwaitingSends,
  type DueSend,
} from '@onecode/store';
import type { WorkerContext } from './context.js';
import { applyDueReceipts } from './receipts.js';

const BATCH = 500;
/** Meta repeats webhooks for seven days; until then a stored one tells a repeat from news. */
const RECEIPT_DAYS = 8;

/**
 * One sweep: everything that must happen even if no ring ever comes. Sends that a sender has come back for are woken, sends
 * whose deadline has come are failed (which erases their code and returns their unit), the other due ones are rung for, and
 * due receipts are applied. Without Redis, all of this but the ringing goes on.
 */
export async function sweep(context: WorkerContext): Promise<void> {
  const { database, bell } = context;
  await untilFewer(BATCH, () => wakeAwaitingSends(database, BATCH));
  // crash point: worker sweep after wake
  await untilFewer(BATCH, async () => {
    const due = await takeDueSends(database, BATCH, !bell.isReady());
    // crash point: worker sweep before rings
    await ring(context, due);
    for (const send of due) if (send.expired) await expire(context, send.id);
    return due.length;
  });
  await applyDueReceipts(context);
}

async function ring({ bell, metrics }: WorkerContext, due: readonly DueSend[]): Promise<void> {
  for (const [queue, mode] of [
    ['deliver', 'live'],
    ['simulate', 'test'],
  ] as const) {
    const rings = due
      .filter((send) => send.mode === mode && !send.expired)
      .map((send) => ({ sendId: send.id, generation: send.version }));
    if (rings.length === 0) continue;
    metrics.rings.inc({ queue }, rings.length);
    await bell.ring(queue, rings);
  }
}

/** Fails a send whose deadline has come. No sender is offered, so no call can come of it. */
async function expire(
  { database, policy, leaseMs, metrics, log }: WorkerContext,
  sendId: string,
): Promise<void> {
  // crash point: worker before expire
  const end = await changeSend(database, { id: sendId }, (send, now) =>
    claim(send, now, { attemptId: newId(), leaseMs, policy, sender: () => null }),
  );
  if (end?.kind !== 'failed') return;
  metrics.deliveries.inc({ end: end.reason });
  log.info({ send_id: sendId, reason: end.reason }, 'a send failed');
}

async function untilFewer(count: number, work: () => Promise<number>): Promise<void> {
  while ((await work()) >= count);
}

/** Deletes what is kept for a time only. Needed seldom, so it has a round of its own. */
export async function cleanUp({ database }: Pick<WorkerContext, 'database'>): Promise<void> {
  await untilFewer(BATCH, () => deleteOldReceipts(database, RECEIPT_DAYS, BATCH));
}
