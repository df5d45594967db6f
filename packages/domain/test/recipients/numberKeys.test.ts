import { createHmac } from 'node:crypto';
import { bodyHashes, deriveNumberPepper, recipientKeys, type Keyring } from '@onecode/domain';
import fc from 'fast-check';

const key = (byte: number): Buffer => Buffer.alloc(32, byte);
const ring = (...versions: number[]): Keyring => ({
  current: versions[0]!,
  keys: new Map(versions.map((version) => [version, key(version)])),
});
const NUMBER = '+5511987654321';
const BODY = Buffer.from(`{"to":"${NUMBER}"}`);

describe('recipientKeys', () => {
  it('returns the version and 16 bytes of HMAC-SHA256 under the pepper', () => {
    const mac = createHmac('sha256', key(3)).update(`number:${NUMBER}`).digest().subarray(0, 16);
    expect(recipientKeys(ring(3), NUMBER)).toEqual([`3:${mac.toString('base64url')}`]);
  });

  it('returns one key per version in the order of the keyring, independent of the other versions', () => {
    const versions = fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(versions, fc.string(), (given, number) => {
        expect(recipientKeys(ring(...given), number)).toEqual(
          given.flatMap((version) => recipientKeys(ring(version), number)),
        );
      }),
    );
  });

  it('returns different keys for different numbers', () => {
    expect(recipientKeys(ring(1), NUMBER)).not.toEqual(recipientKeys(ring(1), `${NUMBER}0`));
  });
});

describe('bodyHashes', () => {
  it('returns one hash per version, which starts with the version and differs from a recipient key of the same text', () => {
    const [current, older] = bodyHashes(ring(2, 1), BODY);
    expect([current, older]).toEqual([
      expect.stringMatching(/^02[0-9a-f]{64}$/),
      expect.stringMatching(/^01[0-9a-f]{64}$/),
    ]);
    expect(older).toEqual(bodyHashes(ring(1), BODY)[0]);
    const [numberKey] = recipientKeys(ring(2), BODY.toString());
    expect(numberKey).not.toContain(Buffer.from(current!, 'hex').subarray(1, 17).toString('base64url'));
  });
});

describe('deriveNumberPepper', () => {
  it('derives one key per version, always the same and different from the original key', () => {
    const derived = deriveNumberPepper(ring(2, 1));
    expect([derived.current, [...derived.keys.keys()]]).toEqual([2, [2, 1]]);
    expect(derived).toEqual(deriveNumberPepper(ring(2, 1)));
    for (const [version, derivedKey] of derived.keys) expect(derivedKey).not.toEqual(key(version));
    // RFC 5869: if a release derived other keys, no number would be found any more.
    expect(derived.keys.get(1)!.toString('hex')).toBe(
      'b3ae0925fbdd3aa0ace2d5bcb6f2d65663867d46bf912256e2927bd66034b66d',
    );
  });
});
