import {
  afterHold,
  agreesWith,
  foldReceipts,
  isUndelivered,
  isSenderFailure,
  mayFail,
  type Receipt,
  type ReceiptEnd,
  type ReportedAttempt,
  type Send,
} from '@onecode/domain';
import { recordSpan } from '@onecode/runtime';
import { countOwnFailure } from '@onecode/store/senders';
import {
  findReportedSends,
  postponeReports,
  recordIdentity,
  writeReceipts,
  type ReportedSend,
  type StoredReport,
} from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';
import { postponeFailed, postponeUnmatched } from '../postponedReports.js';
import { recordSenderFailure, recordSenderSuccess } from '../senders/senderFaults.js';
import { recordReceipt } from '../traffic.js';

type ReportedReceipt = ReportedSend['receipts'][number];

/**
 * Applies stored receipts, all receipts of a send together.
 *
 * @returns false if another process changed one of the sends meanwhile; its receipts are still stored and due
 */
export async function applyReceipts(
  context: WorkerContext,
  receipts: readonly StoredReport<Receipt>[],
): Promise<boolean> {
  const { database, metrics, traffic } = context;
  const { sends, unmatched } = await findReportedSends(database, receipts);
  for (const { report } of await postponeUnmatched(context, unmatched)) {
    recordReceipt(traffic, report, null);
    metrics.receipts.inc({ result: 'unmatched' });
  }
  const areWritten = await Promise.all(
    sends.map((reported) =>
      applyReceiptsOfSend(context, reported).catch(async (error) => {
        await postponeFailed(context, reported.receipts, error, { send_id: reported.send.id });
        return true;
      }),
    ),
  );
  return !areWritten.includes(false);
}

/** Applies the receipts of one send. @returns false if another process changed it meanwhile */
async function applyReceiptsOfSend(context: WorkerContext, reported: ReportedSend): Promise<boolean> {
  const { database, policy } = context;
  const { send, now, receipts } = reported;
  const beganAt = performance.now();
  const judged = [];
  for (const { receipt: reportedReceipt, attempt } of receipts) {
    const receipt = judgeHeld(reportedReceipt, attempt);
    judged.push({ receipt, attempt, isBelieved: await recordReport(context, send, receipt, attempt) });
  }
  // crash point: worker before receipt
  const decision = foldReceipts(send, now, judged, reported, policy, Math.random());
  const written = await writeReceipts(database, reported, decision);
  if (written === null) return false;
  // crash point: worker after receipt
  await postponeReports(
    database,
    receipts.flatMap(({ key }, index) => (decision.result[index] === 'later' ? [key] : [])),
  );
  for (const [index, one] of receipts.entries())
    if (written.deleted.has(one.key))
      await recordApplied(context, written.send, one, decision.result[index] as ReceiptEnd, beganAt);
  return true;
}

const judgeHeld = (receipt: Receipt, { messageStatus }: ReportedAttempt): Receipt =>
  receipt.failure === null ? receipt : { ...receipt, failure: afterHold(receipt.failure, messageStatus) };

/**
 * Records what a receipt reports about the sender and the recipient: a fault of the sender (before the send is due again), and the
 * recipient's identity. A repeated or postponed receipt may count twice, which only makes the limit for the account's own app stricter.
 *
 * @returns false if the receipt reports a failure that is ignored, because the account's own app has reported too many
 */
async function recordReport(
  context: WorkerContext,
  send: Send,
  receipt: Receipt,
  attempt: ReportedAttempt,
): Promise<boolean> {
  const { database, log, metrics } = context;
  const { failure, identityHash } = receipt;
  const { senderId, startedAt } = attempt;
  if (identityHash !== undefined && (await recordIdentity(database, send.id, identityHash)))
    metrics.identityChanges.inc({ application_id: send.applicationId });
  if (failure === null || senderId === null || isUndelivered(attempt)) return true;
  if (isSenderFailure(failure) && agreesWith(failure, attempt))
    await recordSenderFailure(context, { senderId, startedAt, source: 'receipt' }, send, failure);
  // crash point: worker before failed receipt
  if (!mayFail(send) || (await countOwnFailure(database, senderId))) return true;
  log.warn(
    {
      send_id: send.id,
      sender_id: senderId,
      error_code: failure.errorCode,
      reason: "the account's own app has reported too many failures this month",
    },
    'failure report ignored',
  );
  return false;
}

/** Counts an applied receipt, and writes a log line and a span if it changed something. @param beganAt by `performance.now()` */
async function recordApplied(
  context: WorkerContext,
  send: Send,
  { receipt, attempt: { number, senderId, startedAt } }: ReportedReceipt,
  end: ReceiptEnd,
  beganAt: number,
): Promise<void> {
  const { log, metrics, traffic } = context;
  const { status, failure } = receipt;
  recordReceipt(traffic, receipt, send);
  metrics.receipts.inc({ result: end === 'ignored' ? 'ignored' : 'applied' });
  if (end !== 'ignored') {
    log.info(
      {
        send_id: send.id,
        request_id: send.requestId,
        attempt: number,
        sender_id: senderId,
        status,
        send_status: send.status,
        ...(failure !== null && { error_code: failure.errorCode, reason: failure.reason }),
        ...(end === 'redelivers' && { redelivers: true }),
      },
      'receipt applied',
    );
    const attributes = { 'onecode.send_id': send.id, 'onecode.attempt': number, 'onecode.status': status };
    recordSpan('apply receipt', { kind: 'consumer', parent: send.traceparent, beganAt, attributes });
  }
  if (status !== 'failed' && senderId !== null)
    await recordSenderSuccess(context, { senderId, startedAt, source: 'receipt' }, send);
}
