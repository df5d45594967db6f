import { awaitReceipt, retryDelayMs, type RetryPolicy } from '@onecode/domain';
import fc from 'fast-check';
import { POLICY, retryable, UNKNOWN } from './sendFixtures.js';

const WAIT_MS_MAX = 900_000;
const policy = fc.record<RetryPolicy>({
  attemptsMax: fc.integer({ min: 1, max: 12 }),
  backoffMs: fc.integer({ min: 1, max: 60_000 }),
});
const attempt = fc.integer({ min: 1, max: 12 });

describe('retryDelayMs', () => {
  /** A send after its nth call. `limited` of its calls reached a rate limit, which uses no attempt. */
  const called = (n: number, limited = 0) => ({ attempts: n - limited, attemptNumber: n });

  it('returns milliseconds that double up to 15 minutes', () => {
    fc.assert(
      fc.property(policy, attempt, (given, n) => {
        const wait = Math.min(WAIT_MS_MAX, given.backoffMs * 2 ** (n - 1));
        for (const plain of [UNKNOWN, retryable(), retryable({ throttled: 'sender' })])
          expect(retryDelayMs(given, called(n), plain)).toBe(wait);
      }),
    );
  });

  it('returns 4^n seconds, at most 900, after the nth pair rate limit', () => {
    const limit = retryable({ throttled: 'pair' });
    const waits = [1, 2, 3, 4, 5].map((n) => retryDelayMs(POLICY, called(n, n - 1), limit));
    expect(waits).toEqual([4_000, 16_000, 64_000, 256_000, 900_000]);
    expect(retryDelayMs(POLICY, called(3), limit)).toBe(4_000);
    expect(retryDelayMs(POLICY, called(1), retryable({ throttled: 'pair', retryAfterSeconds: 10 }))).toBe(
      10_000,
    );
  });

  it('returns at least the provider’s Retry-After, at most fifteen minutes', () => {
    expect(retryDelayMs(POLICY, called(1), retryable({ retryAfterSeconds: 10 }))).toBe(10_000);
    expect(retryDelayMs(POLICY, called(5), retryable({ retryAfterSeconds: 10 }))).toBe(16_000);
    expect(retryDelayMs(POLICY, called(1), retryable({ retryAfterSeconds: 86_400 }))).toBe(WAIT_MS_MAX);
  });
});

it('awaitReceipt waits for the next step of the back-off, at most 15 minutes', () => {
  const waitMs = (given: RetryPolicy) => Number(awaitReceipt(new Date(0), given).receiptUntil);
  expect(waitMs(POLICY)).toBe(32_000);
  expect(waitMs({ attemptsMax: 12, backoffMs: 60_000 })).toBe(WAIT_MS_MAX);
});
