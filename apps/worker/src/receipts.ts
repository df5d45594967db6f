import {
  applyReceipt,
  isLost,
  isNotOfThisSend,
  SLOT_WAIT_MS_MAX,
  type Receipt,
  type ReceiptEnd,
  type ReportedAttempt,
} from '@onecode/domain';
import { recordSpan } from '@onecode/runtime';
import {
  changeReportedSend,
  countMessageCosts,
  findReportedSend,
  finishReceipts,
  postponeReceipt,
  recordIdentities,
  takeDueReceipts,
  type Changed,
  type ReceiptResult,
  type SendSnapshot,
  type StoredReceipt,
} from '@onecode/store';
import type { WorkerContext } from './context.js';
import { recordSenderFailure, recordSenderSuccess } from './senderFaults.js';
import { recordReceipt } from './traffic.js';

const BATCH = 200;
/** About five minutes with the waits below. The write of an attempt never comes that much later than its receipt. */
const TRIES_MAX = 10;
const WAIT_SECONDS_MAX = 60;

/**
 * Applies the stored receipts that are due, until none is. A receipt that matches no attempt yet is tried again later, and finally
 * marked as unmatched: another application may use the same number.
 *
 * @returns how many receipts were handled
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
  // A message's receipts are applied in order, messages concurrently, so that they share round trips.
  const messages = groupByMessage(batch).map(async (receipts) => {
    for (const stored of receipts) {
      const result = await applyOne(context, stored);
      if (result !== 'later') done[result].push(stored.id);
    }
  });
  const ended = await Promise.allSettled(messages);
  // Before they are finished: a receipt that is handled again counts nothing twice.
  const known = [...done.applied, ...done.ignored];
  const [changes] = await Promise.all([
    recordIdentities(database, known),
    countMessageCosts(database, known),
  ]);
  for (const { applicationId } of changes) metrics.identityChanges.inc({ application_id: applicationId });
  for (const [result, ids] of Object.entries(done) as [ReceiptResult, bigint[]][]) {
    await finishReceipts(database, ids, result);
    metrics.receipts.inc({ result }, ids.length);
  }
  // A receipt that cannot be written holds up no other; it is due again when its lease ends.
  const failed = ended.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Applies one receipt, or postpones it. */
async function applyOne(context: WorkerContext, stored: StoredReceipt): Promise<ReceiptResult | 'later'> {
  const { database, leaseMs, policy, traffic } = context;
  const { receipt } = stored;
  const beganAt = performance.now();
  // Before the send is due again: it must not go out by what has just failed.
  await recordReportedFailure(context, receipt);
  // crash point: worker before receipt
  const terms = { policy, claimMsMax: SLOT_WAIT_MS_MAX + leaseMs };
  const changed = await changeReportedSend(database, receipt, (send, now, attempt) => {
    const decision = applyReceipt(send, now, receipt, attempt, terms, Math.random());
    return { ...decision, result: { end: decision.result, attempt } };
  });
  // crash point: worker after receipt
  const end = changed?.result.end ?? null;
  if (end === 'later' || (end === null && stored.tries < TRIES_MAX)) {
    await postponeReceipt(database, stored.id, Math.min(WAIT_SECONDS_MAX, 2 ** (stored.tries - 1)));
    return 'later';
  }
  recordReceipt(traffic, receipt, changed?.snapshot.send ?? null);
  if (changed === null) return 'unmatched';
  if (end === 'applied' || end === 'redelivers') logApplied(context, receipt, changed, beganAt);
  if (end === 'redelivers') await enqueue(context, changed.snapshot);
  const { id: attemptId, senderId } = changed.result.attempt;
  if (receipt.status !== 'failed' && senderId !== null)
    await recordSenderSuccess(context, { senderId, attemptId, source: 'receipt' }, changed.snapshot.send);
  return end === 'redelivers' ? 'applied' : (end ?? 'unmatched');
}

/** Writes a log line and a span of a receipt that changed something. @param beganAt by `performance.now()` */
function logApplied(
  { log }: WorkerContext,
  { status, failure }: Receipt,
  { result: { end, attempt }, snapshot: { send } }: Changed<{ end: ReceiptEnd; attempt: ReportedAttempt }>,
  beganAt: number,
): void {
  log.info(
    {
      send_id: send.id,
      request_id: send.requestId,
      attempt_id: attempt.id,
      sender_id: attempt.senderId,
      status,
      send_status: send.status,
      ...(failure !== null && { error_code: failure.errorCode, reason: failure.reason }),
      ...(end === 'redelivers' && { redelivers: true }),
    },
    'receipt',
  );
  const attributes = {
    'onecode.send_id': send.id,
    'onecode.attempt_id': attempt.id,
    'onecode.status': status,
  };
  recordSpan('apply receipt', { kind: 'consumer', parent: send.traceparent, beganAt, attributes });
}

/** Stops or throttles what a failed message says, as the answer to a call does. */
async function recordReportedFailure(context: WorkerContext, receipt: Receipt): Promise<void> {
  const { failure } = receipt;
  if (failure === null || !isNotOfThisSend(failure)) return;
  const reported = await findReportedSend(context.database, receipt);
  if (reported === null || isLost(reported.attempt)) return;
  const { attempt, send } = reported;
  const { senderId, id: attemptId } = attempt;
  if (senderId !== null)
    await recordSenderFailure(context, { senderId, attemptId, source: 'receipt' }, send, failure);
}

/** Without Redis, the sweeper enqueues the send. */
async function enqueue({ deliveryQueue }: WorkerContext, { send, version }: SendSnapshot): Promise<void> {
  if (deliveryQueue.isReady()) await deliveryQueue.enqueue('deliver', [{ sendId: send.id, version }]);
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
