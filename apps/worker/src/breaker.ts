import { breakerTrips } from '@onecode/domain';
import { readBreakerEvidence, tripBreaker } from '@onecode/store';
import type { WorkerContext } from './context.js';

/** How long an account is kept from a country. */
const STOPPED_SECONDS = 3_600;

/**
 * Judges every account that has its breaker on, and keeps it from the countries in which too few of its codes are verified.
 * Sends that were accepted before are not touched.
 */
export async function watchBreakers({
  database,
  metrics,
  log,
}: Pick<WorkerContext, 'database' | 'metrics' | 'log'>): Promise<void> {
  for (const evidence of await readBreakerEvidence(database)) {
    if (!breakerTrips(evidence.rule, evidence)) continue;
    // Every worker sees the same; whoever stops the account raises the one alert.
    if (!(await tripBreaker(database, evidence, STOPPED_SECONDS))) continue;
    const { accountId, country, sends, unverified } = evidence;
    metrics.breakerTrips.inc({ country });
    log.warn(
      { account_id: accountId, country, sends, unverified },
      'an account is kept from a country: too few of its codes are verified',
    );
  }
}
