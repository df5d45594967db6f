import {
  afterHold,
  agreesWith,
  findFailedAttempt,
  foldReceipts,
  hasArrived,
  isSenderFailure,
  isUndelivered,
  NO_COUNTRY,
  type Changes,
  type Receipt,
  type Send,
} from '@onecode/domain';
import { recordSpan, SpanKind } from '@onecode/runtime';
import type { TrafficCounter } from '@onecode/store/operations';
import { applyProviderReport } from '@onecode/store/senders';
import {
  applyDenial,
  countOwnFailure,
  deleteReport,
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
import { recordSenderFailure, recordSenderSuccess } from './senders.js';

type ReportedReceipt = ReportedSend['receipts'][number];

/** Applies the stored provider reports that are due. A report that cannot be applied does not block the others. */
export async function applyDueReports(context: WorkerContext): Promise<void> {
  const endsAt = performance.now() + RUN_MS_MAX;
  let mayBeMore = true;
  while (mayBeMore && performance.now() < endsAt) {
    const { receipts, denials, changes, ...batch } = await readDueReports(context.database);
    const [isProgress] = await Promise.all([
      applyReceipts(context, receipts),
      applyEach(context, denials, (denial) => applyDenial(context.database, denial)),
      applyEach(context, changes, async ({ businessAccountId, report, occurredAt }) => {
        // crash point: worker before provider change
        await applyProviderReport(context.database, businessAccountId, report, occurredAt);
        // crash point: worker after provider change
        // A change names no message that could be unknown.
        return true;
      }),
    ]);
    mayBeMore = batch.mayBeMore && isProgress;
  }
}

/**
 * Applies stored receipts, all receipts of a send together.
 *
 * @returns false if none was applied or postponed, because other transactions changed or locked the sends
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
  let isProgress = sends.length === 0 || unmatched.length > 0;
  const apply = async (reported: ReportedSend): Promise<void> => {
    const isWritten = await applyReceiptsOfSend(context, reported).catch(async (error) => {
      await postponeFailed(context, reported.receipts, error, { send_id: reported.send.id });
      return true;
    });
    isProgress ||= isWritten;
  };
  const hasFailure = (reported: ReportedSend): boolean =>
    reported.receipts.some(({ receipt }) => receipt.failure !== null);
  // Failures come last: a failed message blocks no sender if a message that was started later is delivered, even in the same batch.
  await Promise.all(sends.filter((reported) => !hasFailure(reported)).map(apply));
  await Promise.all(sends.filter(hasFailure).map(apply));
  return isProgress;
}

/**
 * Applies the receipts of one send. Ignores its failures if an account's own app reports them and has reported too many this month.
 *
 * @returns false if another transaction has changed or locked the send: nothing is written, and receipts still stored are applied later
 */
async function applyReceiptsOfSend(context: WorkerContext, reported: ReportedSend): Promise<boolean> {
  const { database, policy, log } = context;
  const { send } = reported;
  const startTime = performance.now();
  const receipts = reported.receipts.map(judgeHeld);
  for (const one of receipts) await recordReport(context, reported, one);
  // crash point: worker before receipt
  const before = { send, now: send.now, outcomes: reported.outcomes, policy };
  const fold = (of: readonly ReportedReceipt[]): Changes => foldReceipts(before, of, reported.isPriced);
  const keys = receipts.map(({ key }) => key);
  const allChanges = fold(receipts);
  const failed = findFailedAttempt(allChanges);
  const end = await countOwnFailure(database, failed?.senderId ?? null, async (isOverLimit) => {
    if (isOverLimit) {
      const reason = "the account's own app has reported too many failures this month";
      const facts = { send_id: send.id, sender_id: failed?.senderId, error_code: failed?.errorCode, reason };
      log.warn(facts, 'failure report ignored');
    }
    const applied = isOverLimit ? receipts.filter(({ receipt }) => receipt.status !== 'failed') : receipts;
    const changes = isOverLimit ? fold(applied) : allChanges;
    const written = await writeReceipts(database, send, changes, keys);
    return written && { ...written, applied, changes };
  });
  if (end === null) return false;
  // crash point: worker after receipt
  const isChange = end.changes.change !== undefined || (end.changes.attempts ?? []).length > 0;
  for (const one of end.applied)
    if (end.deleted.has(one.key)) await recordApplied(context, end.send, one, isChange, startTime);
  return true;
}

/** Returns the receipt. If the provider held the message and then dropped it, its failure becomes a fault of the portfolio. */
function judgeHeld(one: ReportedReceipt): ReportedReceipt {
  const { receipt, attempt } = one;
  if (receipt.failure === null) return one;
  return { ...one, receipt: { ...receipt, failure: afterHold(receipt.failure, attempt.messageStatus) } };
}

/** Stores the recipient's identity and blocks a faulty sender, before the send is due again: the next attempt must not meet the fault. */
async function recordReport(
  context: WorkerContext,
  { send, outcomes, receipts }: ReportedSend,
  { receipt: { identityHash, failure }, attempt }: ReportedReceipt,
): Promise<void> {
  if (identityHash !== undefined) await recordIdentity(context.database, send.id, identityHash);
  const { number, senderId, startedAt } = attempt;
  if (failure === null || senderId === null || isUndelivered(outcomes.get(number))) return;
  if (receipts.some((other) => other.attempt.number === number && hasArrived(other.receipt))) return;
  if (isSenderFailure(failure) && agreesWith(failure, attempt))
    await recordSenderFailure(context, { senderId, startedAt, source: 'receipt' }, send, failure);
  // crash point: worker before failed receipt
}

/** Counts an applied receipt, and writes a log line and a span if the send has changed. @param startTime by `performance.now()` */
async function recordApplied(
  context: WorkerContext,
  send: Send,
  { receipt, attempt: { number, senderId, startedAt } }: ReportedReceipt,
  isChange: boolean,
  startTime: number,
): Promise<void> {
  const { log, traffic } = context;
  const { status, failure } = receipt;
  recordReceipt(traffic, receipt, send);
  if (isChange) {
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
  // Meta reports messages as sent that it then does not deliver.
  if (hasArrived(receipt) && senderId !== null)
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

/** Applies reports one by one, and deletes them. @param apply returns false if the message of a report is not known yet */
async function applyEach<Report>(
  context: WorkerContext,
  reports: readonly StoredReport<Report>[],
  apply: (report: Report) => Promise<boolean>,
): Promise<void> {
  for (const { key, report } of reports)
    try {
      if (await apply(report)) await deleteReport(context.database, key);
      else await postponeUnmatched(context.database, [key]);
    } catch (error) {
      await postponeFailed(context, [{ key }], error);
    }
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
