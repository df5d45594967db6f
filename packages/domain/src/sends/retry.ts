import type { Outcome } from './outcome.js';
import type { Send } from './send.js';

/** How many times a delivery is attempted, and the first step of its back-off. */
export interface RetryPolicy {
  attemptsMax: number;
  backoffMs: number;
}

/** The longest wait, whatever the provider requests. */
export const PROVIDER_WAIT_MS_MAX = 900_000;
/** The maximum n for the wait of 4^n seconds after a pair rate limit. */
const PAIR_EXPONENT_MAX = 4;

/**
 * Returns the milliseconds to wait after the latest attempt: exponential, plus up to half of that as jitter, or the provider's Retry-After,
 * whichever is longer. After the nth pair rate limit, Meta recommends 4^n seconds; n counts all calls that used no attempt.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function retryDelayMs(
  { backoffMs }: RetryPolicy,
  { attempts, attemptNumber }: Pick<Send, 'attempts' | 'attemptNumber'>,
  outcome: Outcome,
  random: number,
): number {
  const baseMs = isPairLimit(outcome)
    ? 1000 * 4 ** Math.min(PAIR_EXPONENT_MAX, attemptNumber - attempts + 1)
    : backoffMs * 2 ** (attempts - 1);
  const askedMs = outcome.kind === 'retry' ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.round(Math.min(PROVIDER_WAIT_MS_MAX, Math.max(baseMs * (1 + random / 2), askedMs)));
}

/** Returns whether a sender sent this recipient too many messages. Only this send waits, not the sender's other recipients. */
export function isPairLimit(outcome: Outcome): boolean {
  return outcome.kind === 'retry' && outcome.throttled === 'pair';
}

/**
 * Returns the milliseconds to wait for a receipt after an attempt with an unknown outcome, so that a time-out alone never refunds a unit.
 */
export function receiptWaitMs(policy: RetryPolicy): number {
  return Math.min(PROVIDER_WAIT_MS_MAX, policy.backoffMs * 2 ** policy.attemptsMax);
}
