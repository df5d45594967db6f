import { readDueReports, type StoredReport } from '@onecode/store/sends';
import type { WorkerContext } from './context.js';
import { postponeOrPark } from './postponedReports.js';
import { applyReportedDenial } from './sends/denials.js';
import { applyReceipts } from './sends/receipts.js';
import { applyProviderChange } from './senders/providerChanges.js';

/** A backlog is left to the next run after this time, so that a run ends soon also when more reports arrive than are applied. */
const RUN_MS_MAX = 2_000;

/** Applies the stored reports of the provider that are due. A report that cannot be applied does not block the others. */
export async function applyReports(context: WorkerContext): Promise<void> {
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
    await apply(context, report).catch((error) => postponeOrPark(context, [report], error));
}
