import {
  afterHold,
  agreesWith,
  foldReceipts,
  isUndelivered,
  isSenderFailure,
  NO_COUNTRY,
  type Denial,
  type Receipt,
  type ReceiptEnd,
  type Send,
} from '@onecode/domain';
import { recordSpan, SpanKind } from '@onecode/runtime';
import type { TrafficCounter } from '@onecode/store/operations';
import { countOwnFailure } from '@onecode/store/senders';
import {
  applyDenial,
  findReportedSends,
  postponeReports,
  postponeUnmatched,
  readDueReports,
  recordIdentity,
  writeReceipts,
  type ReportedSend,
  type StoredReport,
} from '@onecode/store/sends';
import { RUN_MS_MAX, type WorkerContext } from './context.js';
import { applyProviderChange } from './senders/providerFacts.js';
import { recordSenderFailure, recordSenderSuccess } from './senders/senderFaults.js';

type ReportedReceipt = ReportedSend['receipts'][number];

/** Applies the stored provider reports that are due. A report that cannot be applied does not block the others. */
export async function applyDueReports(context: WorkerContext): Promise<void> {
  const endsAt = performance.now() + RUN_MS_MAX;
  let mayBeMore = true;
  while (mayBeMore && performance.now() < endsAt) {
    const { receipts, denials, changes, isFull } = await readDueReports(context.database);
    const [isComplete] = await Promise.all([
      applyReceipts(context, receipts),
      applyEach(context, denials, applyReportedDenial),
      applyEach(context, changes, applyProviderChange),
    ]);
    mayBeMore = isFull || !isComplete;
  }
}

/**
 * Applies stored receipts, all receipts of a send together.
 *
 * @returns false if another process changed one of the sends meanwhile; its receipts are still stored and due
 */
async function applyReceipts(
  context: WorkerContext,
  receipts: readonly StoredReport<Receipt>[],
): Promise<boolean> {
  const { database, traffic } = context;
  const { sends, unmatched } = await findReportedSends(database, receipts);
  const dropped = await postponeUnmatched(
    database,
    unmatched.map(({ key }) => key),
  );
  for (const { report } of unmatched.filter(({ key }) => dropped.includes(key)))
    recordReceipt(traffic, report, null);
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
  const { database } = context;
  const startTime = performance.now();
  const receipts = reported.receipts.map(({ receipt, ...one }) => {
    const failure = receipt.failure && afterHold(receipt.failure, one.attempt.messageStatus);
    return { ...one, receipt: { ...receipt, failure } };
  });
  for (const one of receipts) await recordReport(context, reported.send, one);
  // crash point: worker before receipt
  const decision = await decide(context, { ...reported, receipts });
  const keys = receipts.map(({ key }) => key);
  const written = await writeReceipts(database, reported.send, decision, keys);
  if (written === null) return false;
  // crash point: worker after receipt
  for (const [index, one] of receipts.entries())
    if (written.deleted.has(one.key))
      await recordApplied(context, written.send, one, decision.result[index] as ReceiptEnd, startTime);
  return true;
}

/** Decides about a send's receipts. Failures beyond the limit of an account's own app are ignored. */
async function decide(
  context: WorkerContext,
  { send, receipts, ...messages }: ReportedSend,
): Promise<ReturnType<typeof foldReceipts>> {
  const fold = (believed: readonly ReportedReceipt[]) =>
    foldReceipts(send, send.now, believed, messages, context.policy, Math.random());
  const decision = fold(receipts);
  const applied = receipts.filter((_, index) => decision.result[index] === 'applied');
  const ignored = await countOwnFailures(context, send, applied);
  if (ignored.size === 0) return decision;
  return fold(
    receipts.map((one) => (ignored.has(one) ? { ...one, receipt: { ...one.receipt, failure: null } } : one)),
  );
}

/**
 * Records what a receipt reports about the sender and the recipient: a fault of the sender (before the send is due again), and the
 * recipient's identity.
 */
async function recordReport(
  context: WorkerContext,
  send: Send,
  { receipt: { failure, identityHash }, attempt }: ReportedReceipt,
): Promise<void> {
  const { database, metrics } = context;
  const { senderId, startedAt } = attempt;
  if (identityHash !== undefined && (await recordIdentity(database, send.id, identityHash)))
    metrics.identityChanges.inc({ application_id: send.applicationId });
  if (failure === null || senderId === null || isUndelivered(attempt)) return;
  if (isSenderFailure(failure) && agreesWith(failure, attempt))
    await recordSenderFailure(context, { senderId, startedAt, source: 'receipt' }, send, failure);
  // crash point: worker before failed receipt
}

/** Counts failures that accounts' own apps reported. @returns the receipts beyond the app's failures of this month */
async function countOwnFailures(
  { database, log }: WorkerContext,
  send: Send,
  receipts: readonly ReportedReceipt[],
): Promise<Set<ReportedReceipt>> {
  const ignored = new Set<ReportedReceipt>();
  for (const one of receipts) {
    const { failure } = one.receipt;
    const { senderId } = one.attempt;
    if (failure === null || senderId === null || (await countOwnFailure(database, senderId))) continue;
    ignored.add(one);
    const { errorCode } = failure;
    const reason = "the account's own app has reported too many failures this month";
    log.warn(
      { send_id: send.id, sender_id: senderId, error_code: errorCode, reason },
      'failure report ignored',
    );
  }
  return ignored;
}

/** Counts an applied receipt, and writes a log line and a span if it changed something. @param startTime by `performance.now()` */
async function recordApplied(
  context: WorkerContext,
  send: Send,
  { receipt, attempt: { number, senderId, startedAt } }: ReportedReceipt,
  end: ReceiptEnd,
  startTime: number,
): Promise<void> {
  const { log, traffic } = context;
  const { status, failure } = receipt;
  recordReceipt(traffic, receipt, send);
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
      },
      'receipt applied',
    );
    const attributes = { 'onecode.send_id': send.id, 'onecode.attempt': number, 'onecode.status': status };
    const span = { kind: SpanKind.CONSUMER, parent: send.traceparent, startTime, attributes };
    recordSpan('apply receipt', span);
  }
  if (status !== 'failed' && senderId !== null)
    await recordSenderSuccess(context, { senderId, startedAt, source: 'receipt' }, send);
}

/** Counts a receipt that was applied or ignored. @param send null for a receipt that matches no send */
function recordReceipt(
  counter: TrafficCounter,
  { status, failure }: Receipt,
  send: Pick<Send, 'country' | 'senderId'> | null,
): void {
  counter.count({
    event: `receipt_${status}`,
    country: send?.country ?? NO_COUNTRY,
    senderId: send?.senderId ?? '',
    accountId: '',
    reason: send === null ? 'unmatched' : (failure?.kind ?? ''),
  });
}

/** Stores a denial with its send, and counts it. The fraud breaker reads it from the database. */
async function applyReportedDenial(
  { database, metrics }: WorkerContext,
  report: StoredReport<Denial>,
): Promise<void> {
  const denied = await applyDenial(database, report);
  if (denied === null) await postponeUnmatched(database, [report.key]);
  else if (denied.isNew)
    metrics.denials.inc({
      application_id: denied.applicationId,
      country: denied.country ?? NO_COUNTRY,
    });
}

async function applyEach<Report>(
  context: WorkerContext,
  reports: readonly StoredReport<Report>[],
  apply: (context: WorkerContext, report: StoredReport<Report>) => Promise<void>,
): Promise<void> {
  for (const report of reports)
    await apply(context, report).catch((error) => postponeFailed(context, [report], error));
}

/** Postpones reports that could not be applied. They are tried again, eventually each minute. */
async function postponeFailed(
  { database, log }: WorkerContext,
  reports: readonly { key: string }[],
  error: unknown,
  facts: object = {},
): Promise<void> {
  await postponeReports(
    database,
    reports.map(({ key }) => key),
  );
  log.error({ err: error, ...facts }, 'provider report postponed');
}
