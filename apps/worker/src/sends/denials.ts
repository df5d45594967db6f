import { NO_COUNTRY, type Denial } from '@onecode/domain';
import { applyDenial, type StoredReport } from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';
import { postponeUnmatched } from '../postponedReports.js';

/** Stores a reported denial with its send, and counts it. The fraud breaker reads it from the database. */
export async function applyReportedDenial(
  context: WorkerContext,
  report: StoredReport<Denial>,
): Promise<void> {
  const denied = await applyDenial(context.database, report);
  if (denied === null) await postponeUnmatched(context, [report]);
  else if (denied.isNew)
    context.metrics.denials.inc({
      application_id: denied.applicationId,
      country: denied.country ?? NO_COUNTRY,
    });
}
