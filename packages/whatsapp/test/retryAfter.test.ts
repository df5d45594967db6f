import { retryAfterSeconds } from '../src/retryAfter.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const usage = (...minutes: unknown[]) =>
  JSON.stringify({
    '1022': minutes.map((estimated_time_to_regain_access) => ({ estimated_time_to_regain_access })),
  });

describe('the wait that a provider asks for', () => {
  it.each<[string, number | null]>([
    ['0', 0],
    ['30', 30],
    ['999999999999999999999', 3_600],
    ['Thu, 01 Jan 2026 00:00:20 GMT', 20],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 3_600],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['2026-01-01', null],
    ['Thu, 99 Foo 2026 00:00:20 GMT', null],
    ['', null],
  ])('Retry-After: %s → %s', (value, expected) => {
    expect(retryAfterSeconds({ 'retry-after': value }, NOW)).toBe(expected);
  });

  it.each<[string, number | null]>([
    [usage(2), 120],
    [usage(0, 3, 1), 180],
    [usage(0), null],
    [usage(100_000), 3_600],
    [usage('2', null, -1, {}), null],
    ['{', null],
    ['[]', null],
    ['null', null],
  ])('X-Business-Use-Case-Usage: %s → %s', (value, expected) => {
    expect(retryAfterSeconds({ 'x-business-use-case-usage': value }, NOW)).toBe(expected);
  });

  it('is taken from Retry-After before anything else', () => {
    const headers = { 'retry-after': '5', 'x-business-use-case-usage': usage(2) };
    expect(retryAfterSeconds(headers, NOW)).toBe(5);
  });

  it('is null when nothing is said', () => {
    expect(retryAfterSeconds({}, NOW)).toBeNull();
  });
});
