import { createHmac, hkdfSync } from 'node:crypto';
import type { Keyring } from '../security/keyring.js';

const KEY_BYTES = 32;
/** 128 bits, so that no two phone numbers share a key. */
const RECIPIENT_KEY_BYTES = 16;

/**
 * Returns the default of `NUMBER_PEPPER`: one key for each version of `CODE_PEPPER`, from which that pepper cannot be computed (RFC 5869).
 */
export function deriveNumberPepper({ current, keys }: Keyring): Keyring {
  const derive = (key: Buffer): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', 'onecode NUMBER_PEPPER', KEY_BYTES));
  return { current, keys: new Map([...keys].map(([version, key]) => [version, derive(key)])) };
}

/**
 * Returns the keys that represent a number wherever it is counted or searched, one for each key of the keyring, the current one first: the
 * version, a colon, and 16 bytes of HMAC-SHA256(pepper, `number:` ‖ number) in base64url. Without the pepper, a number cannot be found from
 * its key by trying all numbers.
 *
 * @param canonical a result of `canonicalNumber`
 */
export function recipientKeys(pepper: Keyring, canonical: string): string[] {
  return [...pepper.keys].map(([version, key]) => {
    const mac = computeMac(key, 'number:', canonical).subarray(0, RECIPIENT_KEY_BYTES);
    return `${version}:${mac.toString('base64url')}`;
  });
}

/**
 * Returns the hashes that show whether a request repeats another one's body, in the order of `recipientKeys`: the version (1 byte), then
 * HMAC-SHA256(pepper, `body:` ‖ body), in hexadecimal: 66 digits. They are keyed because a body contains little more than a number, so
 * trying all numbers would reveal it.
 */
export function bodyHashes(pepper: Keyring, body: Uint8Array): string[] {
  return [...pepper.keys].map(([version, key]) =>
    Buffer.concat([Buffer.of(version), computeMac(key, 'body:', body)]).toString('hex'),
  );
}

const computeMac = (key: Buffer, label: string, data: string | Uint8Array): Buffer =>
  createHmac('sha256', key).update(label).update(data).digest();
