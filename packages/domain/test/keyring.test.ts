import { keyOf, parseKeyring } from '@onecode/domain';
import { randomBytes } from 'node:crypto';

const KEY = randomBytes(32);
const OTHER_KEY = randomBytes(32);
const text = KEY.toString('base64');
const other = OTHER_KEY.toString('base64');

describe('a keyring', () => {
  it('is one key, version 1, from plain base64', () => {
    const keyring = parseKeyring(text);
    expect(keyring.current).toBe(1);
    expect(keyOf(keyring, 1)).toEqual(KEY);
  });

  it('makes new values with the version named first and keeps the others readable', () => {
    const keyring = parseKeyring(`2:${other}, 1:${text}`);
    expect(keyring.current).toBe(2);
    expect(keyOf(keyring, 2)).toEqual(OTHER_KEY);
    expect(keyOf(keyring, 1)).toEqual(KEY);
  });

  it('takes base64 with or without its padding, and white space around it', () => {
    expect(keyOf(parseKeyring(` ${text.replace(/=+$/, '')}\n`), 1)).toEqual(KEY);
    expect(keyOf(parseKeyring(`${text}=`), 1)).toEqual(KEY);
  });

  it('takes every version that fits into a byte', () => {
    expect(parseKeyring(`255:${text}`).current).toBe(255);
    expect(parseKeyring(`1:${text}`).current).toBe(1);
  });

  it('names the version that is missing, and nothing else', () => {
    expect(() => keyOf(parseKeyring(text), 7)).toThrow('key version 7 is not in the keyring');
  });

  it.each([
    ['empty', ''],
    ['white space', '  '],
    ['a byte too few', randomBytes(31).toString('base64')],
    ['a byte too many', randomBytes(33).toString('base64')],
    ['hexadecimal', KEY.toString('hex')],
    ['base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
    ['a character that is not base64', `${text.slice(0, -2)}!=`],
    ['padding inside', `${text.slice(0, 10)}=${text.slice(10, -1)}`],
    ['a space inside', `${text.slice(0, 10)} ${text.slice(10)}`],
    ['quoted', `"${text}"`],
    ['version 0', `0:${text}`],
    ['version 256', `256:${text}`],
    ['a negative version', `-1:${text}`],
    ['a fraction as version', `1.5:${text}`],
    ['no version before the colon', `:${text}`],
    ['a word as version', `new:${text}`],
    ['key and version swapped', `${text}:1`],
    ['nothing after the colon', '1:'],
    ['a version twice', `1:${text},1:${other}`],
    ['an unversioned key beside version 1', `${text},1:${other}`],
    ['a comma at the end', `2:${text},`],
    ['a colon in place of the comma', `2:${text}:1:${other}`],
    ['something behind the key', `2:${text}:old`],
  ])('is refused when it is %s, without telling the key', (_, faulty) => {
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
