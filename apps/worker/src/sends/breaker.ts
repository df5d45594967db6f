import { breakerTrips } from '@onecode/domain';
import { readBreakerEvidence, tripBreaker } from '@onecode/store/accounts';
import type { WorkerContext } from '../context.js';

/** Blocks an account's sends to a country when its fraud breaker is on and too few of its codes there are verified. */
export async function watchBreakers({ database, metrics, log }: WorkerContext): Promise<void> {
  for (const evidence of await readBreakerEvidence(database)) {
    if (!breakerTrips(evidence.rule, evidence)) continue;
    // All workers see the same counts. Only the worker that trips the breaker raises the alert.
    if (!(await tripBreaker(database, evidence))) continue;
    const { accountId, country, sends, unverified, denying } = evidence;
    metrics.breakerTrips.inc({ country });
    log.warn({ account_id: accountId, country, sends, unverified, denying }, 'fraud breaker tripped');
  }
}
