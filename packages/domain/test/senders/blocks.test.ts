import {
  afterFault,
  afterLimit,
  afterSuccess,
  blocksOf,
  coolDownSeconds,
  appliesTo,
  limitWaitMs,
  senderState,
  activeBlock,
  type Block,
} from '@onecode/domain';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

const FAULT = { cause: 'fault', scope: 'sender', onlyFor: '' } as const;
const LIMIT = { ...FAULT, cause: 'limit' } as const;
const met = (seconds: number, source: 'answer' | 'receipt' = 'answer') => ({
  startedAt: at(seconds),
  source,
  errorCode: 131042,
  reason: 'payment',
  isConfiguration: true,
});
const success = (seconds: number, source: 'answer' | 'receipt' = 'answer') => ({
  startedAt: at(seconds),
  source,
});
/** A block by a fault that occurred at second 0, of a message that was started at second -1. */
const blocked = (more: Partial<Block> = {}): Block => ({
  ...afterFault(FAULT, null, NOW, met(-1))!,
  ...more,
});

describe('afterFault', () => {
  it('blocks for a minute, and for twice as long after the next fault in a row', () => {
    const first = blocked();
    expect(first).toMatchObject({
      failures: 1,
      since: NOW,
      until: at(60),
      clearedAt: null,
      source: 'answer',
    });
    const second = afterFault(FAULT, first, at(61), met(60));
    expect(second).toMatchObject({ failures: 2, since: at(61), until: at(181) });
  });

  it.each([
    ['of a message started before the block', blocked(), 61, met(-1)],
    ['while the block is active', blocked(), 59, met(58)],
    [
      'of a message started before the one that cleared the block',
      afterSuccess(blocked(), at(70), success(65))!,
      80,
      met(64),
    ],
    ['of a message started before the success', afterSuccess(blocked(), at(70), success(65))!, 80, met(65)],
  ])('ignores a fault %s', (_, last, now, fault) => {
    expect(afterFault(FAULT, last, at(now), fault)).toBeNull();
  });

  it('blocks for a minute again after a success', () => {
    const cleared = afterSuccess(blocked({ failures: 5 }), at(70), success(65))!;
    expect(afterFault(FAULT, cleared, at(80), met(66))).toMatchObject({ failures: 1, clearedAt: null });
  });

  it.each([
    ['token', ['sender']],
    ['business', ['sender', 'business']],
    ['template', ['sender en']],
    ['country', ['sender ZZ']],
  ] as const)('blocksOf returns the blocks of a fault of the %s', (scope, expected) => {
    const blocks = blocksOf(scope, { locale: 'en', country: null });
    expect(blocks.map((one) => `${one.scope} ${one.onlyFor}`.trim())).toEqual(expected);
  });

  it('coolDownSeconds doubles up to an hour, starts at 15 seconds for a business account, and is an hour for a country', () => {
    const seconds = (scope: Block['scope'], onlyFor: string) =>
      [1, 2, 3, 6, 7, 2_000].map((nth) => coolDownSeconds({ scope, onlyFor }, nth));
    expect(seconds('sender', 'en')).toEqual([60, 120, 240, 1_920, 3_600, 3_600]);
    expect(seconds('business', '')).toEqual([15, 30, 60, 480, 960, 3_600]);
    expect(seconds('sender', 'BR')).toEqual(Array(6).fill(3_600));
  });
});

describe('afterSuccess', () => {
  it('clears a block after the success of a later message', () => {
    expect(afterSuccess(blocked(), at(70), success(65))).toMatchObject({
      failures: 0,
      clearedAt: at(65),
      until: at(70),
    });
  });

  it.each([
    ['of a message started before the block', blocked(), success(-0.5)],
    ['from a response, if a receipt reported the fault', blocked({ source: 'receipt' }), success(65)],
    ['for an operator’s block', blocked({ cause: 'operator', until: null }), success(65)],
    ['for the provider’s block', blocked({ cause: 'provider', until: null }), success(65)],
    ['for a cleared block', afterSuccess(blocked(), at(70), success(65))!, success(66)],
  ])('ignores a success %s', (_, block, signal) => {
    expect(afterSuccess(block, at(71), signal)).toBeNull();
  });

  it('clears a block from any source after a success in a receipt', () => {
    for (const source of ['answer', 'receipt'] as const)
      expect(afterSuccess(blocked({ source }), at(70), success(65, 'receipt'))).toMatchObject({
        failures: 0,
      });
  });
});

describe('afterLimit', () => {
  const reached = (last: Block | null, now: number, begun: number, retryAfterSeconds: number | null = null) =>
    afterLimit(LIMIT, last, at(now), met(begun), { fullRate: 80, retryAfterSeconds, random: 0 });

  it('waits, and then halves the rate that the provider rejected', () => {
    const first = reached(null, 0, -1)!;
    expect(first).toMatchObject({ failures: 1, until: at(2), rate: 40 });
    expect(reached(first, 3, -0.5)).toBeNull();
    const second = reached(first, 3, 2.5)!;
    expect(second).toMatchObject({ failures: 2, until: at(7), rate: 40 });
    const eased = afterSuccess(second, at(9), success(8))!;
    expect(eased).toMatchObject({ failures: 0, rate: 40, clearedAt: at(8), until: at(69) });
    // The rate is reduced for a minute.
    expect(reached(eased, 68, 67)).toMatchObject({ failures: 1, rate: 20 });
    expect(reached(eased, 70, 69)).toMatchObject({ failures: 1, rate: 40 });
  });

  it('never sets a rate below one message per second', () => {
    const last = { ...reached(null, 0, -1)!, rate: 0.5, failures: 0, clearedAt: at(0), until: at(60) };
    expect(
      afterLimit(LIMIT, last, at(0), met(0.1), { fullRate: 1, retryAfterSeconds: null, random: 0 })?.rate,
    ).toBe(1);
  });

  it('limitWaitMs grows with each rejection in a row, up to ten seconds, plus up to half as jitter', () => {
    expect([1, 4, 9].map((nth) => limitWaitMs(nth, null, 0))).toEqual([2_000, 10_000, 10_000]);
    expect(limitWaitMs(1, null, 0.5)).toBe(2_500);
  });

  it('limitWaitMs is at least the provider’s Retry-After, and at most fifteen minutes', () => {
    const waits = [limitWaitMs(1, 10, 0.9), limitWaitMs(4, 10, 0.9), limitWaitMs(1, 86_400, 0)];
    expect(waits).toEqual([10_000, 14_500, 900_000]);
  });
});

describe('senderState', () => {
  const operator = blocked({ cause: 'operator', until: null, reason: 'why' });
  const provider = blocked({ cause: 'provider', until: null, reason: 'its word' });

  it.each([
    ['active without blocks', [], 'active'],
    ['paused by an operator', [operator], 'paused'],
    ['cooling down until a later time', [blocked({ until: at(1) })], 'cooling_down'],
    ['active at the end of its cool-down', [blocked({ until: NOW })], 'active'],
    ['active after a fault is cleared', [blocked({ failures: 0 })], 'active'],
    [
      'active for other countries and languages',
      [blocked({ onlyFor: 'BR' }), blocked({ onlyFor: 'en' })],
      'active',
    ],
    ['active while a limit slows it down', [blocked({ cause: 'limit' })], 'active'],
  ] as const)('returns %s', (_, blocks, state) => {
    expect(senderState(blocks, NOW)).toBe(state);
  });

  it('activeBlock returns the longest block, and an operator’s block before the provider’s', () => {
    expect(activeBlock([blocked(), provider, operator], NOW)).toBe(operator);
    expect(activeBlock([blocked(), blocked({ until: at(90) })], NOW)?.until).toEqual(at(90));
  });
});

it.each([
  ['', true],
  ['en', true],
  ['pt-BR', false],
  ['ZZ', true],
  ['BR', false],
])('appliesTo for a block of "%s" and an English message without a country returns %s', (onlyFor, is) => {
  expect(appliesTo({ ...FAULT, onlyFor }, { locale: 'en', country: null })).toBe(is);
});
