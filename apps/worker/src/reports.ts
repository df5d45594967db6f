import { readDueReports, type StoredReport } from '@onecode/store/sends';
import { RUN_MS_MAX, type WorkerContext } from './context.js';
import { postponeFailed } from './postponedReports.js';
import { applyReportedDenial } from './sends/denials.js';
import { applyReceipts } from './sends/receipts.js';
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

async function applyEach<Report>(
  context: WorkerContext,
  reports: readonly StoredReport<Report>[],
  apply: (context: WorkerContext, report: StoredReport<Report>) => Promise<void>,
): Promise<void> {
  for (const report of reports)
    await apply(context, report).catch((error) => postponeFailed(context, [report], error));
}
