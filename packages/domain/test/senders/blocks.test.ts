import {
  afterFault,
  afterLimit,
  afterSuccess,
  blocksOf,
  blockSubject,
  coolDownSeconds,
  isAbout,
  limitWaitMs,
  senderState,
  activeBlock,
  type Block,
} from '@onecode/domain';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

const SUBJECT = { cause: 'fault', scope: 'sender', subject: 'one', onlyFor: '' } as const;
const LIMIT = { ...SUBJECT, cause: 'limit' } as const;
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
/** A fault of a message that was begun at -1, met at 0. */
const blocked = (more: Partial<Block> = {}): Block => ({
  ...afterFault(SUBJECT, null, NOW, met(-1))!,
  ...more,
});

describe('a fault', () => {
  it('blocks for a minute, and twice as long each time in a row', () => {
    const first = blocked();
    expect(first).toMatchObject({
      failures: 1,
      since: NOW,
      until: at(60),
      clearedAt: null,
      source: 'answer',
    });
    const second = afterFault(SUBJECT, first, at(61), met(60));
    expect(second).toMatchObject({ failures: 2, since: at(61), until: at(181) });
  });

  it.each([
    ['met by a message that was begun before the block', blocked(), 61, met(-1)],
    ['while the block stands', blocked(), 59, met(58)],
    [
      'met by a message that was begun before the one that proved it over',
      afterSuccess(blocked(), at(70), success(65))!,
      80,
      met(64),
    ],
    ['met by that one', afterSuccess(blocked(), at(70), success(65))!, 80, met(65)],
  ])('is no news %s', (_, last, now, fault) => {
    expect(afterFault(SUBJECT, last, at(now), fault)).toBeNull();
  });

  it('begins anew after a proof', () => {
    const cleared = afterSuccess(blocked({ failures: 5 }), at(70), success(65))!;
    expect(afterFault(SUBJECT, cleared, at(80), met(66))).toMatchObject({ failures: 1, clearedAt: null });
  });

  it.each([
    ['token', ['sender']],
    ['business', ['sender', 'business']],
    ['template', ['sender en']],
    ['country', ['sender ZZ']],
  ] as const)('of the %s blocks what it is about', (scope, expected) => {
    const blocks = blocksOf(scope, { locale: 'en', country: null });
    expect(blocks.map((one) => `${one.scope} ${one.onlyFor}`.trim())).toEqual(expected);
  });

  it('blocks a minute, doubling up to an hour; a business account shorter, a country for an hour', () => {
    const seconds = (scope: Block['scope'], onlyFor: string) =>
      [1, 2, 3, 6, 7, 2_000].map((nth) => coolDownSeconds({ scope, onlyFor }, nth));
    expect(seconds('sender', 'en')).toEqual([60, 120, 240, 1_920, 3_600, 3_600]);
    expect(seconds('business', '')).toEqual([15, 30, 60, 480, 960, 3_600]);
    expect(seconds('sender', 'BR')).toEqual(Array(6).fill(3_600));
  });
});

describe('a proof of health', () => {
  it('ends what single messages tried', () => {
    expect(afterSuccess(blocked(), at(70), success(65))).toMatchObject({
      failures: 0,
      clearedAt: at(65),
      until: at(70),
    });
  });

  it.each([
    ['a message that was begun before the block', blocked(), success(-0.5)],
    ['an answer, where a receipt told of the fault', blocked({ source: 'receipt' }), success(65)],
    ['any message, to an operator', blocked({ cause: 'operator', until: null }), success(65)],
    ['any message, to the provider’s word', blocked({ cause: 'provider', until: null }), success(65)],
    ['a further one', afterSuccess(blocked(), at(70), success(65))!, success(66)],
  ])('is not %s', (_, block, signal) => {
    expect(afterSuccess(block, at(71), signal)).toBeNull();
  });

  it('by a receipt ends whatever messages met', () => {
    for (const source of ['answer', 'receipt'] as const)
      expect(afterSuccess(blocked({ source }), at(70), success(65, 'receipt'))).toMatchObject({
        failures: 0,
      });
  });
});

describe('a limit', () => {
  const reached = (last: Block | null, now: number, begun: number, retryAfterSeconds: number | null = null) =>
    afterLimit(LIMIT, last, at(now), met(begun), { fullRate: 80, retryAfterSeconds, random: 0 });

  it('waits, and then goes on at half of the rate at which it was reached', () => {
    const first = reached(null, 0, -1)!;
    expect(first).toMatchObject({ failures: 1, until: at(2), rate: 40 });
    expect(reached(first, 3, -0.5)).toBeNull();
    const second = reached(first, 3, 2.5)!;
    expect(second).toMatchObject({ failures: 2, until: at(7), rate: 40 });
    const eased = afterSuccess(second, at(9), success(8))!;
    expect(eased).toMatchObject({ failures: 0, rate: 40, clearedAt: at(8) });
    // Four messages a second more each second.
    expect(reached(eased, 13, 12)).toMatchObject({ failures: 1, rate: 30 });
    expect(reached(eased, 100, 99)).toMatchObject({ rate: 40 });
  });

  it('leaves one message a second at least', () => {
    const last = { ...reached(null, 0, -1)!, rate: 0.5, failures: 0, clearedAt: at(0) };
    expect(
      afterLimit(LIMIT, last, at(0), met(0.1), { fullRate: 1, retryAfterSeconds: null, random: 0 })?.rate,
    ).toBe(1);
  });

  it('waits longer with each refusal, up to ten seconds, with up to half as much again by chance', () => {
    expect([1, 4, 9].map((nth) => limitWaitMs(nth, null, 0))).toEqual([2_000, 10_000, 10_000]);
    expect(limitWaitMs(1, null, 0.5)).toBe(2_500);
  });

  it('waits never shorter than the provider asks for, and never longer than fifteen minutes', () => {
    expect([limitWaitMs(1, 10, 0.9), limitWaitMs(4, 10, 0.9)]).toEqual([10_000, 14_500]);
  });
});

describe('a sender', () => {
  const operator = blocked({ cause: 'operator', until: null, reason: 'why' });
  const provider = blocked({ cause: 'provider', until: null, reason: 'its word' });

  it.each([
    ['active without blocks', [], 'active'],
    ['paused by an operator', [operator], 'paused'],
    ['cooling down until a later time', [blocked({ until: at(1) })], 'cooling_down'],
    ['active from the end of its cool-down on', [blocked({ until: NOW })], 'active'],
    ['active where a fault is over', [blocked({ failures: 0 })], 'active'],
    [
      'active for other countries and languages',
      [blocked({ onlyFor: 'BR' }), blocked({ onlyFor: 'en' })],
      'active',
    ],
    ['active while a limit slows it down', [blocked({ cause: 'limit' })], 'active'],
  ] as const)('is %s', (_, blocks, state) => {
    expect(senderState(blocks, NOW)).toBe(state);
  });

  it('is blocked by the longest, and by an operator before the provider', () => {
    expect(activeBlock([blocked(), provider, operator], NOW)).toBe(operator);
    expect(activeBlock([blocked(), blocked({ until: at(90) })], NOW)?.until).toEqual(at(90));
  });

  it('counts as a business account of its own where that is unknown', () => {
    const known = { id: 'a', businessAccountId: '7' };
    const subjects = (['sender', 'business', 'app'] as const).map((scope) => blockSubject(scope, known));
    expect(subjects).toEqual(['a', '7', '']);
    expect(blockSubject('business', { id: 'a', businessAccountId: null })).toBe('a');
  });
});

it.each([
  ['', true],
  ['en', true],
  ['pt-BR', false],
  ['ZZ', true],
  ['BR', false],
])('a block for "%s" is about an English message to no country: %s', (onlyFor, is) => {
  expect(isAbout({ ...SUBJECT, onlyFor }, { locale: 'en', country: null })).toBe(is);
});
