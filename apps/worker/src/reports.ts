import { NO_COUNTRY, type Denial } from '@onecode/domain';
import { applyDenial, postponeUnmatched, readDueReports, type StoredReport } from '@onecode/store/sends';
import { RUN_MS_MAX, type WorkerContext } from './context.js';
import { applyReceipts, postponeFailed } from './sends/receipts.js';
import { applyProviderChange } from './senders/providerFacts.js';

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
