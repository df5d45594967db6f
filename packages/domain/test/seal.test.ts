import { seal, sealedVersion, unseal, type Keyring } from '@onecode/domain';
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

describe('a sealed secret', () => {
  it.each(['042913', '', 'a token of any length '.repeat(50), 'ação 🔑'])('opens again: %j', (secret) => {
    expect(unseal(OLD, SEND, seal(OLD, SEND, secret))).toBe(secret);
  });

  it('differs each time and does not contain the secret', () => {
    const sealed = Array.from({ length: 50 }, () => seal(OLD, SEND, '042913'));
    expect(new Set(sealed.map((one) => one.toString('hex'))).size).toBe(50);
    for (const one of sealed) expect(one.toString('latin1')).not.toContain('042913');
  });

  it('does not open with any bit of it altered', () => {
    const sealed = seal(OLD, SEND, '042913');
    for (let place = 0; place < sealed.length; place++)
      for (let bit = 0; bit < 8; bit++) {
        const altered = Buffer.from(sealed);
        altered[place]! ^= 1 << bit;
        expect(() => unseal(OLD, SEND, altered)).toThrow();
      }
  });

  it.each(['042913', ''])('does not open when it was cut short or lengthened (%j)', (secret) => {
    const sealed = seal(OLD, SEND, secret);
    for (let length = 0; length < sealed.length; length++)
      expect(() => unseal(OLD, SEND, sealed.subarray(0, length))).toThrow();
    expect(() => unseal(OLD, SEND, Buffer.concat([sealed, Buffer.of(0)]))).toThrow();
  });

  it('does not open for another owner, nor with another key', () => {
    const sealed = seal(OLD, SEND, '042913');
    expect(() => unseal(OLD, OTHER_SEND, sealed)).toThrow();
    expect(() => unseal(OTHER, SEND, sealed)).toThrow();
  });

  it('tells the version of the key that sealed it', () => {
    expect(sealedVersion(seal(OLD, SEND, '042913'))).toBe(1);
    expect(sealedVersion(seal(ROTATED, SEND, '042913'))).toBe(2);
  });

  it('opens after a rotation, and not once its key has left the keyring', () => {
    const sealed = seal(OLD, SEND, '042913');
    expect(unseal(ROTATED, SEND, sealed)).toBe('042913');
    expect(unseal(NEW_ONLY, SEND, seal(ROTATED, SEND, '042913'))).toBe('042913');
    expect(() => unseal(NEW_ONLY, SEND, sealed)).toThrow('key version 1 is not in the keyring');
  });
});
