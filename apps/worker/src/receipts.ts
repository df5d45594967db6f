import { applyReceipt, SLOT_WAIT_MS_MAX } from '@onecode/domain';
import {
  changeReportedSend,
  finishReceipts,
  postponeReceipt,
  takeDueReceipts,
  type ReceiptResult,
  type StoredReceipt,
} from '@onecode/store';
import type { WorkerContext } from './context.js';

const BATCH = 200;
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
  const { database, metrics } = context;
  const done: Record<ReceiptResult, bigint[]> = { applied: [], ignored: [], unmatched: [] };
  // Receipts of one message in their order; messages side by side, so that they share round trips.
  const messages = groupByMessage(batch).map(async (receipts) => {
    for (const stored of receipts) {
      const result = await applyOne(context, stored);
      if (result !== 'later') done[result].push(stored.id);
    }
  });
  const ended = await Promise.allSettled(messages);
  for (const [result, ids] of Object.entries(done) as [ReceiptResult, bigint[]][]) {
    await finishReceipts(database, ids, result);
    metrics.receipts.inc({ result }, ids.length);
  }
  // One receipt that cannot be written holds up no other; it comes back when its lease ends.
  const failed = ended.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Applies one receipt, or puts it off. */
async function applyOne(
  { database, leaseMs }: WorkerContext,
  stored: StoredReceipt,
): Promise<ReceiptResult | 'later'> {
  const { receipt } = stored;
  // crash point: worker before receipt
  const result = await changeReportedSend(database, receipt, (send, now, attempt) =>
    applyReceipt(send, now, receipt, attempt, SLOT_WAIT_MS_MAX + leaseMs),
  );
  // crash point: worker after receipt
  if (result !== 'later' && (result !== null || stored.tries >= TRIES_MAX)) return result ?? 'unmatched';
  await postponeReceipt(database, stored.id, Math.min(WAIT_SECONDS_MAX, 2 ** (stored.tries - 1)));
  return 'later';
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
