import { apiKeyHint, generateApiKey, hashApiKey, isApiKey, type Mode } from '@onecode/domain';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const MODES: Mode[] = ['test', 'live'];

const fromBase62 = (text: string): number =>
  [...text].reduce((value, character) => value * 62 + ALPHABET.indexOf(character), 0);

const toBase62 = (value: number): string =>
  Array.from({ length: 6 }, (_, place) => ALPHABET[Math.floor(value / 62 ** (5 - place)) % 62]).join('');

describe.each(MODES)('a %s key', (mode) => {
  const keys = Array.from({ length: 2000 }, () => generateApiKey(mode));

  it('has 41 characters: a prefix, 27 characters of base62 and a checksum of six', () => {
    const pattern = new RegExp(`^ak_${mode}_[0-9A-Za-z]{33}$`);
    expect(keys.filter((key) => !pattern.test(key) || !isApiKey(key))).toEqual([]);
    expect(keys[0]).toHaveLength(41);
  });

  it('ends with the CRC-32 of all characters before the checksum, as zlib computes it', () => {
    for (const key of keys) expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
  });

  it('has a random character in every position of its secret', () => {
    // The first character takes fewer values: 62^27 is more than 2^160.
    for (let place = 9; place < 35; place++)
      expect(new Set(keys.map((key) => key[place])).size).toBe(ALPHABET.length);
  });

  it('is invalid with one character mistyped, missing or doubled', () => {
    const key = keys[0] as string;
    const wrongKeys: string[] = [];
    for (let place = 0; place < key.length; place++) {
      const before = key.slice(0, place);
      const after = key.slice(place + 1);
      for (const wrong of [...ALPHABET, '-', '_', ' ', 'é'])
        if (wrong !== key[place]) wrongKeys.push(before + wrong + after);
      wrongKeys.push(before + after, before + key[place] + key[place] + after);
    }
    expect(wrongKeys.filter(isApiKey)).toEqual([]);
  });

  it('has a hint that reveals at most four characters', () => {
    const key = keys[0] as string;
    expect(apiKeyHint(key)).toBe(`ak_${mode}_…${key.slice(-4)}`);
  });
});

describe('API keys', () => {
  it.each([
    ['another prefix', `ak_prod_${'a'.repeat(27)}`],
    ['something before its prefix', `xak_live_${'a'.repeat(27)}`],
    ['a shorter secret', `ak_live_${'a'.repeat(26)}`],
    ['a longer secret', `ak_live_${'a'.repeat(28)}`],
    ['another alphabet', `ak_live_${'a'.repeat(26)}-`],
    ['nothing before the checksum', ''],
  ])('isApiKey rejects a key with %s despite a correct checksum', (_, body) => {
    const withChecksum = (text: string): string => text + toBase62(crc32(text));
    expect(isApiKey(withChecksum(`ak_live_${'a'.repeat(27)}`))).toBe(true);
    expect(isApiKey(withChecksum(body))).toBe(false);
  });

  it.each([
    ['a prefix alone', 'ak_live_'],
    ['a key with its mode changed', generateApiKey('live').replace('live', 'test')],
    ['a key with a line feed after it', `${generateApiKey('live')}\n`],
    ['a key with a space before it', ` ${generateApiKey('live')}`],
  ])('isApiKey rejects %s', (_, text) => {
    expect(isApiKey(text)).toBe(false);
  });

  it('hashApiKey returns the SHA-256 of the key', () => {
    expect(hashApiKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
