import { breakerTrips } from '@onecode/domain';
import { readBreakerEvidence, tripBreaker } from '@onecode/store/accounts';
import type { WorkerContext } from '../context.js';

/** How long an account's sends to a country are blocked. */
const BLOCK_SECONDS = 3_600;

/** Judges every account whose fraud breaker is on, and blocks its sends to countries in which too few of its codes are verified. */
export async function watchBreakers({
  database,
  metrics,
  log,
}: Pick<WorkerContext, 'database' | 'metrics' | 'log'>): Promise<void> {
  for (const evidence of await readBreakerEvidence(database)) {
    if (!breakerTrips(evidence.rule, evidence)) continue;
    // All workers see the same evidence; the one that trips the breaker raises the alert.
    if (!(await tripBreaker(database, evidence, BLOCK_SECONDS))) continue;
    const { accountId, country, sends, unverified, denying } = evidence;
    metrics.breakerTrips.inc({ country });
    log.warn(
      { account_id: accountId, country, sends, unverified, denying },
      'the fraud breaker blocked an account in a country: too few of its codes are verified',
    );
  }
}
