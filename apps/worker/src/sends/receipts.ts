import {
  agreesWith,
  applyReceipt,
  isLost,
  isSenderFailure,
  mayFail,
  type Receipt,
  type Send,
} from '@onecode/domain';
import { recordSpan } from '@onecode/runtime';
import { refusesValues } from '@onecode/store/client';
import { countOwnFailure } from '@onecode/store/senders';
import {
  applyReceipts,
  changeReportedSend,
  deleteReceipt,
  findReportedSend,
  postponeReceipt,
  readReceipts,
  recordIdentities,
  releaseReceipt,
  setReceiptAside,
  type AppliedReceipts,
  type StoredReceipt,
} from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';
import { recordSenderFailure, recordSenderSuccess } from '../senders/senderFaults.js';
import { recordReceipt } from '../traffic.js';

const BATCH = 200;
/** About five minutes with the waits of `postponeReceipt`. The write of an attempt never comes that much later than its receipt. */
const TRIES_MAX = 10;

/** Applies the stored receipts that are due, until none is. @param isSweep whether to look also for those left by others */
export async function applyDueReceipts(context: WorkerContext, isSweep: boolean): Promise<void> {
  const { database } = context;
  for (;;) {
    const beganAt = performance.now();
    // crash point: worker before receipt
    const { applied, others } = await applyReceipts(database, BATCH, isSweep);
    // crash point: worker after receipt
    for (const one of applied) await tell(context, one, beganAt);
    const ended = await Promise.allSettled(
      (await readReceipts(database, others)).map((one) => applyOrPostpone(context, one)),
    );
    // One that cannot be written holds up no other.
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const isLast = applied.reduce((sum, { statuses }) => sum + statuses.length, others.length) < BATCH;
    const released = ended.some((end) => end.status === 'fulfilled' && end.value === 'released');
    if (isLast && !released) return;
  }
}

/** Counts receipts that were applied together, and writes a log line and a span if they changed something. */
async function tell(
  context: WorkerContext,
  { attempt, senderId, startedAt, statuses, before, after, ...send }: AppliedReceipts,
  beganAt: number,
): Promise<void> {
  const { metrics, traffic } = context;
  for (const status of statuses) recordReceipt(traffic, { status, failure: null }, after);
  const isNews = before.status !== after.status;
  metrics.receipts.inc({ result: isNews ? 'applied' : 'ignored' }, statuses.length);
  if (isNews)
    logReceipt(
      context,
      { id: attempt.sendId, status: after.status, ...send },
      { number: attempt.number, senderId, status: after.status, beganAt },
    );
  const { country } = after;
  await recordSenderSuccess(context, { senderId, startedAt, source: 'receipt' }, { ...send, country });
}

interface Report {
  /** The attempt's. */
  number: number;
  senderId: string | null;
  status: string;
  /** By `performance.now()`. */
  beganAt: number;
}

function logReceipt(
  { log }: WorkerContext,
  send: Pick<Send, 'id' | 'status' | 'requestId' | 'traceparent'>,
  { number, senderId, status, beganAt }: Report,
  more: object = {},
): void {
  log.info(
    {
      send_id: send.id,
      request_id: send.requestId,
      attempt: number,
      sender_id: senderId,
      status,
      send_status: send.status,
      ...more,
    },
    'receipt',
  );
  const attributes = { 'onecode.send_id': send.id, 'onecode.attempt': number, 'onecode.status': status };
  recordSpan('apply receipt', { kind: 'consumer', parent: send.traceparent, beganAt, attributes });
}

/** What became of a receipt: `released` is for `applyReceipts` now. */
type ReceiptEnd = 'done' | 'postponed' | 'released';

async function applyOrPostpone(context: WorkerContext, stored: StoredReceipt): Promise<ReceiptEnd> {
  try {
    return await applyOne(context, stored);
  } catch (error) {
    const { id, tries, receipt } = stored;
    // What a lock, a time-out or a broken connection prevents comes later: it may return a unit.
    if (tries + 1 < TRIES_MAX || !refusesValues(error)) {
      await postponeReceipt(context.database, id);
      throw error;
    }
    await setReceiptAside(context.database, id);
    const facts = { receipt_id: String(id), send_id: receipt.attempt?.sendId, status: receipt.status };
    context.log.error({ err: error, ...facts }, 'a receipt could not be applied, and was set aside');
    return 'postponed';
  }
}

/** Applies a receipt by itself: of a failure, an unknown message, a send that is not on its way, or with an identity. */
async function applyOne(context: WorkerContext, { id, receipt, tries }: StoredReceipt): Promise<ReceiptEnd> {
  const { database, policy, metrics, traffic } = context;
  const beganAt = performance.now();
  // Before the send is due again: it must not go out by what has just failed.
  const isBelieved = await recordReportedFailure(context, receipt);
  // crash point: worker before failed receipt
  const changed = await changeReportedSend(database, receipt, (send, now, attempt) => {
    const decision = applyReceipt(send, now, receipt, { ...attempt, isBelieved }, policy, Math.random());
    return { ...decision, result: { end: decision.result, attempt } };
  });
  if (changed?.result.end === 'later' || (changed === null && tries < TRIES_MAX)) {
    await postponeReceipt(database, id);
    return 'postponed';
  }
  if (changed === null) {
    recordReceipt(traffic, receipt, null);
    metrics.receipts.inc({ result: 'unmatched' });
    await deleteReceipt(database, id);
    return 'done';
  }
  const { end, attempt } = changed.result;
  const { send } = changed.snapshot;
  const { status, failure, identityHash } = receipt;
  const { number, senderId, startedAt } = attempt;
  if (end !== 'ignored')
    logReceipt(
      context,
      send,
      { number, senderId, status, beganAt },
      {
        ...(failure !== null && { error_code: failure.errorCode, reason: failure.reason }),
        ...(end === 'redelivers' && { redelivers: true }),
      },
    );
  if (identityHash !== undefined)
    for (const { applicationId } of await recordIdentities(database, [{ sendId: send.id, identityHash }]))
      metrics.identityChanges.inc({ application_id: applicationId });
  const isAccepted = end === 'applied' || attempt.outcome === 'accepted';
  if (status !== 'failed' && isAccepted && send.status !== 'failed' && send.lostAt === null) {
    await releaseReceipt(database, id, { sendId: send.id, number });
    return 'released';
  }
  recordReceipt(traffic, receipt, send);
  metrics.receipts.inc({ result: end === 'ignored' ? 'ignored' : 'applied' });
  if (status !== 'failed' && senderId !== null)
    await recordSenderSuccess(context, { senderId, startedAt, source: 'receipt' }, send);
  await deleteReceipt(database, id);
  return 'done';
}

/**
 * Blocks or throttles what a reported failure names, as the response to a call does, and counts the failures that an account's own app
 * reports. A report that is repeated or has to wait may count twice, which only makes the limit stricter.
 *
 * @returns false if the own app has reported more failures than it is believed: the send then stays as it is
 */
async function recordReportedFailure(context: WorkerContext, receipt: Receipt): Promise<boolean> {
  const { database, log } = context;
  const { failure } = receipt;
  if (failure === null) return true;
  const reported = await findReportedSend(database, receipt);
  if (reported === null || isLost(reported.attempt)) return true;
  const { attempt, send } = reported;
  const { senderId, startedAt } = attempt;
  if (senderId === null) return true;
  if (isSenderFailure(failure) && agreesWith(failure, attempt))
    await recordSenderFailure(context, { senderId, startedAt, source: 'receipt' }, send, failure);
  if (!mayFail(send) || (await countOwnFailure(database, senderId))) return true;
  log.warn(
    { send_id: send.id, sender_id: senderId, error_code: failure.errorCode },
    "failure report ignored: the account's own app has reported too many this month",
  );
  return false;
}
