import type { Outcome } from './outcome.js';

/** How often a delivery is attempted, and the first step of its back-off. */
export interface RetryPolicy {
  attemptsMax: number;
  backoffMs: number;
}

/** No wait is longer, whatever the provider asks for. */
const WAIT_MS_MAX = 900_000;

/**
 * Milliseconds to wait after the nth attempt (1 for the first): exponential from `backoffMs`, plus up to half of that as jitter,
 * or what the provider asked for by Retry-After, whichever is longer.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, outcome: Outcome, random: number): number {
  const exponential = policy.backoffMs * 2 ** (attempt - 1) * (1 + random / 2);
  const askedMs = outcome.kind === 'retry' ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.round(Math.min(WAIT_MS_MAX, Math.max(exponential, askedMs)));
}

/** Milliseconds to wait for a receipt after an attempt of unknown outcome, so that a time-out alone never returns a unit. */
export function settleDelayMs(policy: RetryPolicy): number {
  return Math.min(WAIT_MS_MAX, policy.backoffMs * 2 ** policy.attemptsMax);
}
