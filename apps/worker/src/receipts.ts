import { applyReceipt } from '@onecode/domain';
import {
  changeReportedSend,
  finishReceipts,
  postponeReceipt,
  takeDueReceipts,
  type StoredReceipt,
} from '@onecode/store';
import type { WorkerContext } from './context.js';
import { SLOT_WAIT_MS_MAX } from './senderPool.js';

const BATCH = 200;
/** Messages whose receipts are applied side by side. */
const SIDE_BY_SIDE = 10;
/** About five minutes with the waits below: longer than any write of ours takes to follow its receipt. */
const TRIES_MAX = 10;
const WAIT_SECONDS_MAX = 60;

/**
 * Applies the stored receipts that are due, until none is. One that matches no attempt yet is tried again later, and in the
 * end put aside: other applications may share our number.
 *
 * @returns how many were dealt with
 */
export async function applyDueReceipts(context: WorkerContext): Promise<number> {
  let handled = 0;
  for (;;) {
    const batch = await takeDueReceipts(context.database, BATCH);
    await applyBatch(context, batch);
    handled += batch.length;
    if (batch.length < BATCH) return handled;
  }
}

async function applyBatch(context: WorkerContext, batch: readonly StoredReceipt[]): Promise<void> {
  // Receipts of one message in their order; messages side by side.
  const messages = groupByMessage(batch);
  const next = messages.values();
  const lane = async (): Promise<void> => {
    for (const receipts of next) for (const stored of receipts) await applyOne(context, stored);
  };
  const lanes = await Promise.allSettled(Array.from({ length: SIDE_BY_SIDE }, lane));
  // One receipt that cannot be written holds up no other; it comes back when its lease ends.
  const failed = lanes.find((ended) => ended.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function applyOne({ database, metrics, leaseMs }: WorkerContext, stored: StoredReceipt): Promise<void> {
  const { receipt } = stored;
  // crash point: worker before receipt
  const result = await changeReportedSend(database, receipt, (send, now, attempt) =>
    applyReceipt(send, now, receipt, attempt, SLOT_WAIT_MS_MAX + leaseMs),
  );
  // crash point: worker after receipt
  if (result === 'later' || (result === null && stored.tries < TRIES_MAX))
    return postponeReceipt(database, stored.id, Math.min(WAIT_SECONDS_MAX, 2 ** (stored.tries - 1)));
  metrics.receipts.inc({ result: result ?? 'unmatched' });
  await finishReceipts(database, [stored.id], result ?? 'unmatched');
}

function groupByMessage(batch: readonly StoredReceipt[]): StoredReceipt[][] {
  const groups = new Map<string, StoredReceipt[]>();
  for (const stored of batch) {
    const group = groups.get(stored.receipt.messageId);
    if (group === undefined) groups.set(stored.receipt.messageId, [stored]);
    else group.push(stored);
  }
  return [...groups.values()];
}
