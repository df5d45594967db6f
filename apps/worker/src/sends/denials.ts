import { NO_COUNTRY } from '@onecode/domain';
import { matchDueDenials } from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';

const BATCH = 200;

/** Finds the sends of stored denials that are due, and counts them. The breaker reads them from the database. */
export async function applyDueDenials({
  database,
  metrics,
}: Pick<WorkerContext, 'database' | 'metrics'>): Promise<void> {
  for (;;) {
    const { matched, due } = await matchDueDenials(database, BATCH);
    for (const { applicationId, country } of matched)
      metrics.denials.inc({ application_id: applicationId, country: country ?? NO_COUNTRY });
    if (due < BATCH) return;
  }
}
