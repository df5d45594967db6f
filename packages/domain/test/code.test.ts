import { generateCode, hashCode, hashesOf, TEST_CODE, type Keyring } from '@onecode/domain';
import { randomBytes } from 'node:crypto';

const OLD_KEY = randomBytes(32);
const NEW_KEY = randomBytes(32);
const OLD: Keyring = { current: 1, keys: new Map([[1, OLD_KEY]]) };
const ROTATED: Keyring = {
  current: 2,
  keys: new Map([
    [2, NEW_KEY],
    [1, OLD_KEY],
  ]),
};
const NEW_ONLY: Keyring = { current: 2, keys: new Map([[2, NEW_KEY]]) };
const OTHER: Keyring = { current: 1, keys: new Map([[1, randomBytes(32)]]) };
const SEND = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER_SEND = '01890a5d-ac96-774b-bcce-b302099a8058';

const codeMatches = (pepper: Keyring, sendId: string, hash: Buffer, guess: string): boolean =>
  hashesOf(pepper, sendId, guess).some((one) => one.equals(hash));

/** The value that χ² of this many degrees of freedom passes once in 10^9 (Wilson–Hilferty, z = 6). */
const chiSquaredMax = (degrees: number): number =>
  degrees * (1 - 2 / (9 * degrees) + 6 * Math.sqrt(2 / (9 * degrees))) ** 3;

function chiSquared(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('generated codes', () => {
  it('are six digits, evenly spread over a million draws, leading zeros among them', () => {
    const thousands = Array.from({ length: 1000 }, () => 0);
    const remainders = Array.from({ length: 1000 }, () => 0);
    const digits = Array.from({ length: 6 }, () => Array.from({ length: 10 }, () => 0));
    for (let draw = 0; draw < 1_000_000; draw++) {
      const code = generateCode();
      if (!/^[0-9]{6}$/.test(code)) throw new Error('a code is not six digits');
      const number = Number(code);
      thousands[Math.floor(number / 1000)]! += 1;
      remainders[number % 1000]! += 1;
      for (let place = 0; place < 6; place++) digits[place]![Number(code[place])]! += 1;
    }
    for (const counts of [thousands, remainders, ...digits])
      expect(chiSquared(counts)).toBeLessThan(chiSquaredMax(counts.length - 1));
    expect(digits[0]![0]).toBeGreaterThan(90_000);
  });

  it('are 000000 in test mode', () => {
    expect(TEST_CODE).toBe('000000');
  });
});

describe('the hash of a code', () => {
  it('is one byte of key version and 32 of HMAC, and does not hold the code', () => {
    const hash = hashCode(ROTATED, SEND, '042913');
    expect(hash).toHaveLength(33);
    expect(hash[0]).toBe(2);
    expect(hash.toString('latin1')).not.toContain('042913');
  });

  it('knows its code, leading zeros and all ten digits included', () => {
    for (const code of ['000000', '042913', '0000', '9999999999'])
      expect(codeMatches(OLD, SEND, hashCode(OLD, SEND, code), code)).toBe(true);
  });

  it.each([
    '042914',
    '42913',
    '0042913',
    '0429130',
    '042913 ',
    ' 042913',
    '042913\0',
    '',
    '\uff10\uff14\uff12\uff19\uff11\uff13',
    '042913'.repeat(10_000),
  ])('refuses %j', (guess) => {
    expect(codeMatches(OLD, SEND, hashCode(OLD, SEND, '042913'), guess)).toBe(false);
  });

  it('is of no use for another send, nor under another pepper', () => {
    const hash = hashCode(OLD, SEND, '042913');
    expect(hashCode(OLD, OTHER_SEND, '042913')).not.toEqual(hash);
    expect(codeMatches(OLD, OTHER_SEND, hash, '042913')).toBe(false);
    expect(codeMatches(OTHER, SEND, hash, '042913')).toBe(false);
  });

  it('is still judged after the pepper was rotated, and new ones are made with the new pepper', () => {
    const before = hashCode(OLD, SEND, '042913');
    expect(codeMatches(ROTATED, SEND, before, '042913')).toBe(true);
    expect(codeMatches(ROTATED, SEND, before, '042914')).toBe(false);
    const after = hashCode(ROTATED, SEND, '042913');
    expect(after.subarray(1)).not.toEqual(before.subarray(1));
    expect(codeMatches(NEW_ONLY, SEND, after, '042913')).toBe(true);
  });

  it('does not match under another version that its first byte was changed to', () => {
    const hash = hashCode(OLD, SEND, '042913');
    hash[0] = 2;
    expect(codeMatches(ROTATED, SEND, hash, '042913')).toBe(false);
  });

  it('has one form for each key of the keyring', () => {
    expect(hashesOf(ROTATED, SEND, '042913').map(([version]) => version)).toEqual([2, 1]);
    expect(codeMatches(NEW_ONLY, SEND, hashCode(OLD, SEND, '042913'), '042913')).toBe(false);
  });
});
