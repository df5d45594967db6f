import {
  coolDownSeconds,
  SENDER_PATTERNS,
  SENDER_TEMPLATE_INITIAL,
  SENDER_THROUGHPUT,
  senderState,
} from '@onecode/domain';

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
    ['token', '!~', true],
    ['token', 'E'.repeat(4096), true],
    ['token', 'E'.repeat(4097), false],
    ['token', '', false],
    ['token', 'a b', false],
    ['token', ' ab', false],
    ['token', 'ab\u007f', false],
    ['token', 'é', false],
  ] as const)('%s: is %j allowed? %s', (field, text, isAllowed) => {
    expect(SENDER_PATTERNS[field].test(text)).toBe(isAllowed);
  });

  it('have the throughput that the provider grants', () => {
    expect(SENDER_THROUGHPUT).toEqual({ min: 1, max: 1000, initial: 80 });
    expect(SENDER_TEMPLATE_INITIAL).toBe('verification_code');
  });
});
