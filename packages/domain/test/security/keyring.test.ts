import { randomBytes } from 'node:crypto';
import {
  decrypt,
  encrypt,
  encryptionKeyVersion,
  generateCode,
  hashCode,
  matchesCode,
  parseKeyring,
  requireKey,
} from '@onecode/domain';

const KEY = randomBytes(32);
const OTHER_KEY = randomBytes(32);
const text = KEY.toString('base64');
const other = OTHER_KEY.toString('base64');

describe('parseKeyring', () => {
  it('reads plain base64 as one key of version 1', () => {
    const keyring = parseKeyring(text);
    expect(keyring.current).toBe(1);
    expect(requireKey(keyring, 1)).toEqual(KEY);
  });

  it('uses the first version for new values, and keeps the other versions readable', () => {
    const keyring = parseKeyring(`2:${other}, 1:${text}`);
    expect(keyring.current).toBe(2);
    expect(requireKey(keyring, 2)).toEqual(OTHER_KEY);
    expect(requireKey(keyring, 1)).toEqual(KEY);
  });

  it('accepts base64 with or without padding, and white space around it', () => {
    expect(requireKey(parseKeyring(` ${text.replace(/=+$/, '')}\n`), 1)).toEqual(KEY);
    expect(requireKey(parseKeyring(`${text}=`), 1)).toEqual(KEY);
  });

  it('accepts version 255, the largest', () => {
    expect(parseKeyring(`255:${text}`).current).toBe(255);
  });

  it.each([
    ['empty', ''],
    ['white space', '  '],
    ['one byte too short', randomBytes(31).toString('base64')],
    ['one byte too long', randomBytes(33).toString('base64')],
    ['hexadecimal', KEY.toString('hex')],
    ['base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
    ['a character that is not base64', `${text.slice(0, -2)}!=`],
    ['padding inside', `${text.slice(0, 10)}=${text.slice(10, -1)}`],
    ['quoted', `"${text}"`],
    ['version 0', `0:${text}`],
    ['version 256', `256:${text}`],
    ['a fraction as version', `1.5:${text}`],
    ['an exponent in the version', `1e1:${text}`],
    ['a hexadecimal version', `0x2:${text}`],
    ['a space in the version', `2 :${text}`],
    ['no version before the colon', `:${text}`],
    ['key and version swapped', `${text}:1`],
    ['a version twice', `1:${text},1:${other}`],
    ['an unversioned key in addition to version 1', `${text},1:${other}`],
    ['a comma at the end', `2:${text},`],
    ['a colon in place of the comma', `2:${text}:1:${other}`],
    ['something behind the key', `2:${text}:old`],
  ])('rejects a keyring without quoting the key: %s', (_, faulty) => {
    const message = refusal(faulty);
    expect(message).toMatch(/\S/);
    for (const key of [text, other, KEY.toString('hex'), faulty.trim()])
      for (let start = 0; start + 6 <= key.length; start++)
        expect(message).not.toContain(key.slice(start, start + 6));
  });
});

function refusal(faulty: string): string {
  try {
    parseKeyring(faulty);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

const OLD = parseKeyring(text);
const ROTATED = parseKeyring(`2:${other},1:${text}`);
const NEW_ONLY = parseKeyring(`2:${other}`);
const OTHER = parseKeyring(other);
const SEND = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER_SEND = '01890a5d-ac96-774b-bcce-b302099a8058';

describe('generateCode', () => {
  it('returns six digits, each about equally likely in every position', () => {
    const digits = Array.from({ length: 6 }, () => Array.from({ length: 10 }, () => 0));
    for (let draw = 0; draw < 20_000; draw++) {
      const code = generateCode();
      if (!/^[0-9]{6}$/.test(code)) throw new Error('a code is not six digits');
      for (let place = 0; place < 6; place++) digits[place]![Number(code[place])]! += 1;
    }
    // Each count should be about 2,000. A difference of 300 is seven standard deviations.
    for (const count of digits.flat()) expect(Math.abs(count - 2_000)).toBeLessThan(300);
  });
});

describe('hashCode and matchesCode', () => {
  it('return the key version in one byte, and 32 bytes of HMAC', () => {
    const hash = hashCode(ROTATED, SEND, '042913');
    expect(hash).toHaveLength(33);
    expect(hash[0]).toBe(2);
  });

  it('match codes with leading zeros and codes with ten digits', () => {
    for (const code of ['000000', '0000', '9999999999'])
      expect(matchesCode(OLD, SEND, code, hashCode(OLD, SEND, code))).toBe(true);
  });

  it.each(['042914', '42913', '0042913', '042913 ', '042913\0', ''])('reject the guess %j', (guess) => {
    expect(matchesCode(OLD, SEND, guess, hashCode(OLD, SEND, '042913'))).toBe(false);
  });

  it('reject the code of another send, or a code under another pepper', () => {
    const hash = hashCode(OLD, SEND, '042913');
    expect(matchesCode(OLD, OTHER_SEND, '042913', hash)).toBe(false);
    expect(matchesCode(OTHER, SEND, '042913', hash)).toBe(false);
  });

  it('match codes from before and after a rotation of the pepper', () => {
    expect(matchesCode(ROTATED, SEND, '042913', hashCode(OLD, SEND, '042913'))).toBe(true);
    expect(matchesCode(NEW_ONLY, SEND, '042913', hashCode(ROTATED, SEND, '042913'))).toBe(true);
  });

  it('reject a hash with a changed version byte', () => {
    const hash = hashCode(OLD, SEND, '042913');
    hash[0] = 2;
    expect(matchesCode(ROTATED, SEND, '042913', hash)).toBe(false);
  });

  it('throw if the keyring lacks the hash’s pepper', () => {
    const hash = hashCode(OLD, SEND, '042913');
    expect(() => matchesCode(NEW_ONLY, SEND, '042913', hash)).toThrow('key version 1 is not in the keyring');
  });
});

describe('encrypt and decrypt', () => {
  it.each(['', 'a token of any length '.repeat(50), 'ação 🔑'])(
    'return the original secret: %j',
    (secret) => {
      expect(decrypt(OLD, SEND, encrypt(OLD, SEND, secret))).toBe(secret);
    },
  );

  it('return different bytes for each encryption, without the secret in them', () => {
    const encrypted = Array.from({ length: 50 }, () => encrypt(OLD, SEND, '042913'));
    expect(new Set(encrypted.map((one) => one.toString('hex'))).size).toBe(50);
    for (const one of encrypted) expect(one.toString('latin1')).not.toContain('042913');
  });

  it('throw if a bit was changed', () => {
    const encrypted = encrypt(OLD, SEND, '042913');
    for (let place = 0; place < encrypted.length; place++)
      for (let bit = 0; bit < 8; bit++) {
        const altered = Buffer.from(encrypted);
        altered[place]! ^= 1 << bit;
        expect(() => decrypt(OLD, SEND, altered)).toThrow();
      }
  });

  it.each(['042913', ''])('throw if the bytes were shortened or lengthened (%j)', (secret) => {
    const encrypted = encrypt(OLD, SEND, secret);
    for (let length = 0; length < encrypted.length; length++)
      expect(() => decrypt(OLD, SEND, encrypted.subarray(0, length))).toThrow();
    expect(() => decrypt(OLD, SEND, Buffer.concat([encrypted, Buffer.of(0)]))).toThrow();
  });

  it('throw for another owner or another key', () => {
    const encrypted = encrypt(OLD, SEND, '042913');
    expect(() => decrypt(OLD, OTHER_SEND, encrypted)).toThrow();
    expect(() => decrypt(OTHER, SEND, encrypted)).toThrow();
  });

  it('store the key’s version', () => {
    expect(encryptionKeyVersion(encrypt(ROTATED, SEND, '042913'))).toBe(2);
  });

  it('work after a rotation until the key is removed from the keyring', () => {
    const encrypted = encrypt(OLD, SEND, '042913');
    expect(decrypt(ROTATED, SEND, encrypted)).toBe('042913');
    expect(decrypt(NEW_ONLY, SEND, encrypt(ROTATED, SEND, '042913'))).toBe('042913');
    expect(() => decrypt(NEW_ONLY, SEND, encrypted)).toThrow('key version 1 is not in the keyring');
  });
});
