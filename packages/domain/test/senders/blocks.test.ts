import {
  activeBlock,
  afterFailure,
  afterSuccess,
  appliesTo,
  blocksOf,
  coolDownMs,
  senderState,
  type Block,
  type SenderFailure,
} from '@onecode/domain';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

const KIND = { cause: 'fault', scope: 'sender', onlyFor: '' } as const;
const FAULT: SenderFailure = { kind: 'config', scope: 'token', errorCode: 131042, reason: 'payment' };
const LIMIT = {
  kind: 'retry',
  throttled: 'sender',
  errorCode: 130429,
  reason: 'too fast',
  retryAfterSeconds: null,
} as const satisfies SenderFailure;
const signal = (seconds: number, source: 'answer' | 'receipt' = 'answer') => ({
  startedAt: at(seconds),
  source,
});
/** A block by a fault that occurred at second 0, of a message that was started at second -1. */
const blocked = (more: Partial<Block> = {}): Block => ({
  ...afterFailure(KIND, null, NOW, signal(-1), FAULT)!,
  ...more,
});

describe('afterFailure', () => {
  it('blocks for a minute, and for twice as long after the next fault in a row', () => {
    const first = blocked();
    expect(first).toMatchObject({
      failures: 1,
      isConfiguration: true,
      since: NOW,
      until: at(60),
      source: 'answer',
    });
    const second = afterFailure(KIND, first, at(61), signal(60), FAULT);
    expect(second).toMatchObject({ failures: 2, since: at(61), until: at(181) });
  });

  it.each([
    ['of a message started before the block', blocked(), 61, -1],
    ['while the block is active', blocked(), 59, 58],
    [
      'of a message started before the one that cleared the block',
      afterSuccess(blocked(), signal(65))!,
      80,
      64,
    ],
    ['of the message that cleared the block', afterSuccess(blocked(), signal(65))!, 80, 65],
  ])('ignores a fault %s', (_, last, now, startedAt) => {
    expect(afterFailure(KIND, last, at(now), signal(startedAt), FAULT)).toBeNull();
  });

  it('blocks for a minute again after a success', () => {
    const cleared = afterSuccess(blocked({ failures: 5 }), signal(65))!;
    const next = afterFailure(KIND, cleared, at(80), signal(66), FAULT);
    expect(next).toMatchObject({ failures: 1, since: at(80), until: at(140) });
  });
});

it.each([
  ['a fault of the token', FAULT, 'fault sender'],
  ['a fault of the sender', { ...FAULT, kind: 'sender' }, 'fault sender'],
  ['a fault of the business account', { ...FAULT, scope: 'business' }, 'fault sender, fault business'],
  ['a fault of the portfolio', { ...FAULT, scope: 'portfolio' }, 'fault sender, fault portfolio'],
  ['a fault of the template', { ...FAULT, scope: 'template' }, 'fault sender en'],
  ['a fault for the country', { ...FAULT, scope: 'country' }, 'fault sender ZZ'],
  ['a limit of the sender', LIMIT, 'limit sender'],
  ['a limit of the business account', { ...LIMIT, throttled: 'business' }, 'limit business'],
] as [string, SenderFailure, string][])('blocksOf returns the blocks of %s', (_, failure, expected) => {
  const blocks = blocksOf(failure, { locale: 'en', country: 'ZZ' });
  const names = blocks.map(({ cause, scope, onlyFor }) => `${cause} ${scope} ${onlyFor}`.trim());
  expect(names.join(', ')).toBe(expected);
});

describe('coolDownMs', () => {
  const seconds = (failure: SenderFailure, scope: Block['scope'] = 'sender') =>
    [1, 2, 3, 6, 7, 2_000].map((nth) => coolDownMs({ scope }, failure, nth) / 1_000);

  it('doubles from a minute to an hour after a fault, and from two seconds to ten after a limit', () => {
    expect(seconds(FAULT)).toEqual([60, 120, 240, 1_920, 3_600, 3_600]);
    expect(seconds(FAULT, 'business')).toEqual([15, 30, 60, 480, 960, 3_600]);
    expect(seconds(LIMIT, 'business')).toEqual([2, 4, 8, 10, 10, 10]);
  });

  it('is at least the provider’s Retry-After, and at most fifteen minutes', () => {
    expect(seconds({ ...LIMIT, retryAfterSeconds: 7 })).toEqual([7, 7, 8, 10, 10, 10]);
    expect(seconds({ ...LIMIT, retryAfterSeconds: 86_400 })[0]).toBe(900);
  });
});

describe('afterSuccess', () => {
  it('clears a block after the success of a later message', () => {
    expect(afterSuccess(blocked(), signal(65))).toMatchObject({
      failures: 0,
      since: at(65),
    });
  });

  it.each([
    ['of a message started before the block', blocked(), signal(-0.5)],
    ['from a response, if a receipt reported the fault', blocked({ source: 'receipt' }), signal(65)],
    ['for an operator’s block', blocked({ cause: 'operator', until: null }), signal(65)],
    ['for the provider’s block', blocked({ cause: 'provider', until: null }), signal(65)],
    ['for a cleared block', afterSuccess(blocked(), signal(65))!, signal(66)],
  ])('ignores a success %s', (_, block, success) => {
    expect(afterSuccess(block, success)).toBeNull();
  });

  it('clears a block from any source after a success in a receipt', () => {
    for (const source of ['answer', 'receipt'] as const)
      expect(afterSuccess(blocked({ source }), signal(65, 'receipt'))).toMatchObject({
        failures: 0,
      });
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
  expect(appliesTo({ ...KIND, onlyFor }, { locale: 'en', country: 'ZZ' })).toBe(is);
});
