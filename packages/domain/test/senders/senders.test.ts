import { ACCESS_TOKEN, SENDER_PATTERNS, SENDER_TEMPLATE_INITIAL } from '@onecode/domain';

describe('SENDER_PATTERNS', () => {
  it.each([
    ['phoneNumberId', '9'.repeat(32), true],
    ['phoneNumberId', '9'.repeat(33), false],
    ['phoneNumberId', '', false],
    ['phoneNumberId', '12a', false],
    ['phoneNumberId', 'a12', false],
    ['template', SENDER_TEMPLATE_INITIAL, true],
    ['template', 'a'.repeat(513), false],
    ['template', 'code-2', false],
  ] as const)('matches the %s %j: %s', (field, text, isAllowed) => {
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
    ['<EAAG>', false],
    ['EAAG,', false],
    ['a b', false],
    ['ab\n', false],
  ])('ACCESS_TOKEN matches %j: %s', (text, isAllowed) => {
    expect(ACCESS_TOKEN.test(text)).toBe(isAllowed);
  });
});
