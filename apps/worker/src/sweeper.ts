import { claim, SLOT_WAIT_MS_MAX } from '@onecode/domain';
import { recordSpan } from '@onecode/runtime';
import {
  changeSend,
  deleteEndedKeys,
  deleteOldCountedMessages,
  deleteOldHeartbeats,
  deleteOldProcesses,
  eraseExpiredCodes,
  deleteOldSenderRecipientWindows,
  deleteOldReports,
  deleteOldRefusedRequests,
  deletePastTurns,
  deleteOldThrottles,
  mergeOldTraffic,
  newId,
  takeDueSends,
  wakeAwaitingSends,
  type DueSend,
} from '@onecode/store';
import type { WorkerContext } from './context.js';
import { applyDueDenials } from './denials.js';
import { applyDueProviderChanges } from './providerChanges.js';
import { applyDueReceipts } from './receipts.js';

const BATCH = 500;
/** Small, because the senders' slots are locked while sends are woken. */
const WAKE_BATCH = 100;
/**
 * Woken sends whose jobs may wait in the queue, which is first in, first out for them: while the workers cannot keep up, a send waits in
 * its row, where its account's turn counts. More than what all workers take until the next round.
 */
const WAITING_JOBS_MAX = 200;
/** Meta repeats webhooks for seven days; until then a stored report tells a repeat. */
const RECEIPT_DAYS = 8;
/** What the provider told of templates, numbers and accounts, for who looks back after an incident. */
const PROVIDER_CHANGE_DAYS = 90;

/**
 * One round of the sweeper: everything that must happen even without a job. First it applies due receipts, so that no delivered send is
 * failed; then it fails the due sends whose code expired or was settled (which erases the code and returns the unit), and enqueues the
 * other due ones. Without Redis, everything but the enqueueing goes on.
 */
export async function sweep(context: WorkerContext): Promise<void> {
  const { database, deliveryQueue } = context;
  // What cannot be applied must not hold up the sends.
  const reports = await Promise.allSettled([
    applyDueReceipts(context),
    applyDueDenials(context),
    applyDueProviderChanges(context),
  ]);
  await untilFewer(BATCH, async () => {
    const due = await takeDueSends(database, BATCH, !deliveryQueue.isReady());
    // crash point: worker sweep before enqueue
    await enqueue(context, due);
    await Promise.all(due.map(async (send) => send.isOver && fail(context, send.id)));
    return due.length;
  });
  for (const report of reports) if (report.status === 'rejected') throw report.reason;
}

/**
 * Wakes the sends that wait for a sender, as many as there are slots soon, and enqueues them. Runs several times within
 * `SLOT_WAIT_MS_MAX`, or slots stay unused. While Redis is down, the sends go on waiting in their rows.
 */
export async function wake({ database, deliveryQueue }: WorkerContext): Promise<void> {
  while (deliveryQueue.isReady()) {
    const waiting = await deliveryQueue.countWaitingJobs('deliver');
    if (waiting >= WAITING_JOBS_MAX) return;
    const woken = await wakeAwaitingSends(database, WAKE_BATCH, SLOT_WAIT_MS_MAX, waiting);
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
      .map(({ id, version, accountId }) => ({ sendId: id, version, accountId }));
    if (sends.length === 0) continue;
    const isAccepted = await deliveryQueue.enqueue(queue, sends);
    if (isAccepted) metrics.enqueues.inc({ queue }, sends.length);
  }
}

/** Fails a send whose deadline has come or whose code is settled. Without a slot, the claim cannot lead to a call. */
async function fail(
  { database, policy, leaseMs, metrics, log }: WorkerContext,
  sendId: string,
): Promise<void> {
  const beganAt = performance.now();
  // crash point: worker before giving up
  const failed = await changeSend(database, { id: sendId }, (send, now) => {
    const decision = claim(send, now, { attemptId: newId(), leaseMs, policy, slot: null });
    return { ...decision, result: { end: decision.result, send } };
  });
  if (failed?.end.kind !== 'failed') return;
  const {
    end,
    send: { requestId, traceparent: parent },
  } = failed;
  metrics.deliveries.inc({ end: end.reason });
  log.info({ send_id: sendId, request_id: requestId, reason: end.reason }, 'a send failed');
  const attributes = { 'onecode.send_id': sendId, 'onecode.end': end.reason };
  recordSpan('give up', { parent, beganAt, attributes });
}

/** Repeats `batch` until it handles fewer than `count` rows. */
async function untilFewer(count: number, batch: () => Promise<number>): Promise<void> {
  while ((await batch()) >= count);
}

/** Deletes what is kept for a limited time, and erases the codes that can be sent no more. */
export async function cleanUp({ database }: Pick<WorkerContext, 'database'>): Promise<void> {
  await untilFewer(BATCH, () => eraseExpiredCodes(database, BATCH));
  await untilFewer(BATCH, () => deleteOldReports(database, 'receipts', RECEIPT_DAYS, BATCH));
  await untilFewer(BATCH, () => deleteOldCountedMessages(database, RECEIPT_DAYS, BATCH));
  await untilFewer(BATCH, () => deleteOldReports(database, 'denials', RECEIPT_DAYS, BATCH));
  await untilFewer(BATCH, () => deleteOldReports(database, 'provider_changes', PROVIDER_CHANGE_DAYS, BATCH));
  await untilFewer(BATCH, () => deleteOldSenderRecipientWindows(database, BATCH));
  await untilFewer(BATCH, () => deleteOldRefusedRequests(database, BATCH));
  await deleteEndedKeys(database);
  await deletePastTurns(database);
  await deleteOldThrottles(database);
  await deleteOldHeartbeats(database);
  await mergeOldTraffic(database);
  await deleteOldProcesses(database);
}
