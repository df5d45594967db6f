import { retryDelayMs, receiptWaitMs, type RetryPolicy } from '@onecode/domain';
import fc from 'fast-check';
import { POLICY, retryable, UNKNOWN } from './sendFixtures.js';

const WAIT_MS_MAX = 900_000;
const policy = fc.record<RetryPolicy>({
  attemptsMax: fc.integer({ min: 1, max: 12 }),
  backoffMs: fc.integer({ min: 1, max: 60_000 }),
});
const attempt = fc.integer({ min: 1, max: 12 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('retryDelayMs', () => {
  /** A send after its nth call. `limited` of its calls reached a rate limit, which uses no attempt. */
  const called = (n: number, limited = 0) => ({ attempts: n - limited, attemptNumber: n });

  it('returns whole milliseconds that double up to 15 minutes, plus up to half as jitter', () => {
    fc.assert(
      fc.property(policy, attempt, random, (given, n, chance) => {
        const least = given.backoffMs * 2 ** (n - 1);
        for (const plain of [UNKNOWN, retryable(), retryable({ throttled: 'sender' })]) {
          const delay = retryDelayMs(given, called(n), plain, chance);
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(Math.min(WAIT_MS_MAX, least));
          expect(delay).toBeLessThanOrEqual(Math.min(WAIT_MS_MAX, Math.round(least * 1.5)));
        }
      }),
    );
  });

  it('uses the full range of jitter', () => {
    expect(retryDelayMs(POLICY, called(3), UNKNOWN, 0)).toBe(4000);
    expect(retryDelayMs(POLICY, called(3), UNKNOWN, 0.5)).toBe(5000);
    expect(retryDelayMs(POLICY, called(3), UNKNOWN, 1 - Number.EPSILON)).toBe(6000);
  });

  it('returns 4^n seconds, at most 900, after the nth pair rate limit, with the same jitter', () => {
    const limit = retryable({ throttled: 'pair' });
    const waits = [1, 2, 3, 4, 5].map((n) => retryDelayMs(POLICY, called(n, n - 1), limit, 0));
    expect(waits).toEqual([4_000, 16_000, 64_000, 256_000, 900_000]);
    expect(retryDelayMs(POLICY, called(3), limit, 0.5)).toBe(5_000);
    expect(
      retryDelayMs(POLICY, called(1), retryable({ throttled: 'pair', retryAfterSeconds: 10 }), 0.5),
    ).toBe(10_000);
  });

  it('returns at least the provider’s Retry-After, at most fifteen minutes', () => {
    expect(retryDelayMs(POLICY, called(1), retryable({ retryAfterSeconds: 10 }), 0.9)).toBe(10_000);
    expect(retryDelayMs(POLICY, called(5), retryable({ retryAfterSeconds: 10 }), 0)).toBe(16_000);
    expect(retryDelayMs(POLICY, called(1), retryable({ retryAfterSeconds: 86_400 }), 0)).toBe(WAIT_MS_MAX);
  });
});

it('receiptWaitMs returns the next step of the back-off, at most 15 minutes', () => {
  expect(receiptWaitMs(POLICY)).toBe(32_000);
  expect(receiptWaitMs({ attemptsMax: 12, backoffMs: 60_000 })).toBe(WAIT_MS_MAX);
});
