import { keyNotice } from '../../src/features/applications/view.js';

const NOW = new Date('2026-11-29T12:00:00Z');
const inDays = (days: number): Date => new Date(NOW.getTime() + days * 86_400_000);

describe('keyNotice', () => {
  it.each([
    ['a new key without an end', { createdAt: inDays(-1) }, null],
    ['a key that expires in 15 days', { createdAt: inDays(-1), expiresAt: inDays(15) }, null],
    ['a key that expires in 14 days', { createdAt: inDays(-1), expiresAt: inDays(14) }, 'expires_soon'],
    ['a key never used in 89 days', { createdAt: inDays(-89) }, null],
    ['a key never used in 90 days', { createdAt: inDays(-90) }, 'unused'],
    ['an old key used a day ago', { createdAt: inDays(-500), lastUsedAt: inDays(-1) }, null],
    ['an old key used 90 days ago', { createdAt: inDays(-500), lastUsedAt: inDays(-90) }, 'unused'],
    ['an unused key that expires', { createdAt: inDays(-90), expiresAt: inDays(1) }, 'expires_soon'],
  ])('returns the notice for %s', (_, key, wanted) => {
    expect(keyNotice({ lastUsedAt: null, expiresAt: null, ...key }, NOW)).toBe(wanted);
  });
});
