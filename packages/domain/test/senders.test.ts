import {
  coolDownSeconds,
  retryDelayMs,
  ACCESS_TOKEN,
  SENDER_PATTERNS,
  SENDER_TEMPLATE_INITIAL,
  senderState,
  settleDelayMs,
  throttleWaitsMs,
  windowWaitsMs,
  type RetryPolicy,
} from '@onecode/domain';
import fc from 'fast-check';
import { POLICY, retryable, UNKNOWN } from './sendFixtures.js';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const EARLIER = new Date(NOW.getTime() - 1);
const LATER = new Date(NOW.getTime() + 1);

describe('the cool-down of a sender', () => {
  it('is a minute after its first failure, doubles with each consecutive one, and is an hour at most', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 100, 2_000_000_000].map(coolDownSeconds)).toEqual([
      60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600,
    ]);
  });
});

describe('the state of a sender', () => {
  it.each([
    ['active without a pause', null, null, 'active'],
    ['paused without an end', EARLIER, null, 'paused'],
    ['cooling down until a later time', EARLIER, LATER, 'cooling_down'],
    ['active again from the end of its cool-down on', EARLIER, NOW, 'active'],
    ['active when its cool-down is over', EARLIER, EARLIER, 'active'],
  ])('is %s', (_, pausedAt, pausedUntil, state) => {
    expect(senderState({ pausedAt, pausedUntil }, NOW)).toBe(state);
  });
});

describe('the fields of a sender', () => {
  it.each([
    ['phoneNumberId', '1', true],
    ['phoneNumberId', '9'.repeat(32), true],
    ['phoneNumberId', '9'.repeat(33), false],
    ['phoneNumberId', '', false],
    ['phoneNumberId', '12a', false],
    ['phoneNumberId', 'a12', false],
    ['phoneNumberId', '12\n', false],
    ['template', SENDER_TEMPLATE_INITIAL, true],
    ['template', 'a'.repeat(512), true],
    ['template', 'a'.repeat(513), false],
    ['template', '', false],
    ['template', 'Code', false],
    ['template', 'code-2', false],
    ['template', '_2', true],
  ] as const)('%s: is %j allowed? %s', (field, text, isAllowed) => {
    expect(SENDER_PATTERNS[field].test(text)).toBe(isAllowed);
  });

  it.each([
    ['EAAGm0PX4ZCps_-.~+/9', true],
    ['1234567890|aB-c', true],
    ['ab==', true],
    ['E'.repeat(4096), true],
    ['E'.repeat(4097), false],
    ['', false],
    ['"EAAG"', false],
    ["'EAAG'", false],
    ['`EAAG`', false],
    ['<EAAG>', false],
    ['EAAG,', false],
    ['a b', false],
    [' ab', false],
    ['ab\n', false],
    ['é', false],
  ])('token: is %j allowed? %s', (text, isAllowed) => {
    expect(ACCESS_TOKEN.test(text)).toBe(isAllowed);
  });
});

describe('the waits of what is throttled', () => {
  it('double with each refusal, up to ten seconds', () => {
    expect(throttleWaitsMs(null, 0)).toEqual([2_000, 4_000, 8_000, 10_000]);
  });

  it('are 4^n seconds for one sender and one recipient', () => {
    expect(windowWaitsMs(null, 0)).toEqual([4_000, 16_000, 64_000, 256_000]);
  });

  it('are up to half as long again by chance', () => {
    expect(throttleWaitsMs(null, 0.5)[0]).toBe(2_500);
    expect(windowWaitsMs(null, 1 - Number.EPSILON)[0]).toBe(6_000);
  });

  it('are never shorter than what the provider asks for, and never longer than fifteen minutes', () => {
    expect(throttleWaitsMs(10, 0.9)).toEqual([10_000, 10_000, 11_600, 14_500]);
    expect(windowWaitsMs(86_400, 0)).toEqual([900_000, 900_000, 900_000, 900_000]);
  });
});

const WAIT_MS_MAX = 900_000;
const policy = fc.record<RetryPolicy>({
  attemptsMax: fc.integer({ min: 1, max: 12 }),
  backoffMs: fc.integer({ min: 1, max: 60_000 }),
});
const attempt = fc.integer({ min: 1, max: 12 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const outcome = fc.oneof(
  fc.constant(UNKNOWN),
  fc.record({
    kind: fc.constant('retry' as const),
    errorCode: fc.constant(131000),
    reason: fc.constant('busy'),
    throttled: fc.constantFrom('none', 'sender', 'recipient_window', 'business'),
    retryAfterSeconds: fc.option(fc.integer({ min: 0, max: 10_000 })),
  }),
);

describe('the wait after an attempt', () => {
  it('doubles from the back-off, with up to half of it as jitter', () => {
    fc.assert(
      fc.property(policy, attempt, random, (given, n, chance) => {
        const least = given.backoffMs * 2 ** (n - 1);
        for (const plain of [UNKNOWN, retryable(), retryable({ throttled: 'sender' })]) {
          const delay = retryDelayMs(given, n, plain, chance);
          expect(delay).toBeGreaterThanOrEqual(Math.min(WAIT_MS_MAX, least));
          expect(delay).toBeLessThanOrEqual(Math.min(WAIT_MS_MAX, Math.round(least * 1.5)));
        }
      }),
    );
  });

  it('uses the whole of its jitter', () => {
    expect(retryDelayMs(POLICY, 3, UNKNOWN, 0)).toBe(4000);
    expect(retryDelayMs(POLICY, 3, UNKNOWN, 0.5)).toBe(5000);
    expect(retryDelayMs(POLICY, 3, UNKNOWN, 1 - Number.EPSILON)).toBe(6000);
  });

  it('is whole milliseconds and never more than fifteen minutes', () => {
    fc.assert(
      fc.property(policy, attempt, outcome, random, (given, n, whatever, chance) => {
        const delay = retryDelayMs(given, n, whatever, chance);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThanOrEqual(WAIT_MS_MAX);
      }),
    );
  });

  it('is never shorter than what the provider asked for, fifteen minutes at most', () => {
    fc.assert(
      fc.property(attempt, fc.integer({ min: 0, max: 10_000 }), random, (n, seconds, chance) => {
        const delay = retryDelayMs(POLICY, n, retryable({ retryAfterSeconds: seconds }), chance);
        expect(delay).toBeGreaterThanOrEqual(Math.min(WAIT_MS_MAX, seconds * 1000));
      }),
    );
    expect(retryDelayMs(POLICY, 1, retryable({ retryAfterSeconds: 30 }), 0.9)).toBe(30_000);
    expect(retryDelayMs(POLICY, 1, retryable({ retryAfterSeconds: 86_400 }), 0)).toBe(WAIT_MS_MAX);
  });

  it('takes the longest of what is asked', () => {
    const both = retryable({ retryAfterSeconds: 10 });
    expect(retryDelayMs(POLICY, 1, both, 0)).toBe(10_000);
    expect(retryDelayMs(POLICY, 5, both, 0)).toBe(16_000);
    expect(retryDelayMs({ ...POLICY, backoffMs: 60_000 }, 2, both, 0)).toBe(120_000);
  });
});

describe('the wait for a receipt after the last attempt', () => {
  it('is the next step of the back-off', () => {
    expect(settleDelayMs(POLICY)).toBe(32_000);
    expect(settleDelayMs({ attemptsMax: 1, backoffMs: 50 })).toBe(100);
  });

  it('is never more than fifteen minutes', () => {
    fc.assert(fc.property(policy, (given) => settleDelayMs(given) <= WAIT_MS_MAX));
    expect(settleDelayMs({ attemptsMax: 12, backoffMs: 60_000 })).toBe(WAIT_MS_MAX);
  });
});
