import type { Outcome } from './outcome.js';

/** How often and how patiently a delivery is tried. */
export interface RetryPolicy {
  attemptsMax: number;
  backoffMs: number;
}

/** A provider that asks for a longer wait than a code can live is not followed beyond this. */
const WAIT_MS_MAX = 900_000;

/**
 * Milliseconds to wait after the attempt with this number (1 for the first): exponential from `backoffMs`, plus up to half of
 * it as jitter. A full pair window asks for 4^n seconds (Meta's advice for error 131056), and a provider's own Retry-After is
 * honoured; the longest of them counts.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, outcome: Outcome, random: number): number {
  const exponential = policy.backoffMs * 2 ** (attempt - 1) * (1 + random / 2);
  const pair = outcome.kind === 'retry' && outcome.throttled === 'pair' ? 4 ** attempt * 1000 : 0;
  const asked = outcome.kind === 'retry' ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.round(Math.min(WAIT_MS_MAX, Math.max(exponential, pair, asked)));
}

/**
 * Milliseconds to wait for a receipt after the last attempt when some attempt's outcome is unknown: one more step of the
 * back-off. Only then is the send given up, so that a time-out alone never returns a unit.
 */
export function settleDelayMs(policy: RetryPolicy): number {
  return Math.min(WAIT_MS_MAX, policy.backoffMs * 2 ** policy.attemptsMax);
}
