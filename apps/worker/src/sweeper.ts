import { claim, SLOT_WAIT_MS_MAX } from '@onecode/domain';
import {
  changeSend,
  deleteOldHeartbeats,
  deleteOldSenderRecipientWindows,
  deleteOldReceipts,
  newId,
  takeDueSends,
  wakeAwaitingSends,
  type DueSend,
} from '@onecode/store';
import type { WorkerContext } from './context.js';
import { applyDueReceipts } from './receipts.js';

const BATCH = 500;
/** The senders' slots are locked while sends are woken. */
const WAKE_BATCH = 100;
/** Meta repeats webhooks for seven days; until then a stored one tells a repeat from news. */
const RECEIPT_DAYS = 8;

/**
 * One sweep: everything that must happen even if no job ever comes. Due receipts are applied, so that a send that was delivered
 * is not given up; then sends whose code is of no use any more are failed (which erases it and returns their unit), and the other
 * due ones are enqueued. Without Redis, all of this but the enqueueing goes on.
 */
export async function sweep(context: WorkerContext): Promise<void> {
  const { database, deliveryQueue } = context;
  // A receipt that cannot be applied holds up no send.
  const [receipts] = await Promise.allSettled([applyDueReceipts(context)]);
  await untilFewer(BATCH, async () => {
    const due = await takeDueSends(database, BATCH, !deliveryQueue.isReady());
    // crash point: worker sweep before enqueue
    await enqueue(context, due);
    for (const send of due) if (send.isOver) await giveUp(context, send.id);
    return due.length;
  });
  if (receipts.status === 'rejected') throw receipts.reason;
}

/**
 * Wakes as many of the sends that wait for a sender as have a slot soon, and enqueues them. To be called several times within
 * `SLOT_WAIT_MS_MAX`, or slots go by unused. While Redis is away they go on waiting in their rows.
 */
export async function wake({ database, deliveryQueue }: WorkerContext): Promise<void> {
  while (deliveryQueue.isReady()) {
    const woken = await wakeAwaitingSends(database, WAKE_BATCH, SLOT_WAIT_MS_MAX);
    if (woken.length === 0) return;
    // crash point: worker sweep after wake
    await deliveryQueue.enqueue(
      'deliver',
      woken.map(({ id, version }) => ({ sendId: id, version })),
    );
  }
}

async function enqueue({ deliveryQueue, metrics }: WorkerContext, due: readonly DueSend[]): Promise<void> {
  for (const [queue, mode] of [
    ['deliver', 'live'],
    ['simulate', 'test'],
  ] as const) {
    const sends = due
      .filter((send) => send.mode === mode && !send.isOver)
      .map((send) => ({ sendId: send.id, version: send.version }));
    if (sends.length === 0) continue;
    metrics.enqueues.inc({ queue }, sends.length);
    await deliveryQueue.enqueue(queue, sends);
  }
}

/** Fails a send whose deadline has come or whose code is settled. No slot is offered, so no call can come of it. */
async function giveUp(
  { database, policy, leaseMs, metrics, log }: WorkerContext,
  sendId: string,
): Promise<void> {
  // crash point: worker before giving up
  const end = await changeSend(database, { id: sendId }, (send, now) =>
    claim(send, now, { attemptId: newId(), leaseMs, policy, slot: null }),
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
  await untilFewer(BATCH, () => deleteOldSenderRecipientWindows(database, BATCH));
  await deleteOldHeartbeats(database);
}
