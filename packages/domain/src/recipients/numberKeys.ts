import { createHmac, hkdfSync } from 'node:crypto';
import { requireKey, type Keyring } from '../security/keyring.js';

const KEY_BYTES = 32;
/** 128 bits: no two numbers of the world share a key. */
const RECIPIENT_KEY_BYTES = 16;

/** `NUMBER_PEPPER` where it is not set: one key for each version of `CODE_PEPPER`, which does not tell that pepper (RFC 5869). */
export function deriveNumberPepper({ current, keys }: Keyring): Keyring {
  const derive = (key: Buffer): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', 'onecode NUMBER_PEPPER', KEY_BYTES));
  return { current, keys: new Map([...keys].map(([version, key]) => [version, derive(key)])) };
}

/**
 * What stands for a number wherever it is counted or searched by, one for each key of the keyring and that of the current one first:
 * the version, a colon, and 16 bytes of HMAC-SHA256(pepper, `number:` ‖ number) in base64url. Nobody without the pepper can tell the
 * number from it, however few numbers there are.
 *
 * @param canonical as `canonicalNumber` gives it
 */
export function recipientKeys(pepper: Keyring, canonical: string): string[] {
  return versionsOf(pepper).map((version) => keyForVersion(pepper, version, canonical));
}

/** Returns the recipient key of the current version, by which limits and budgets count. */
export function recipientKey(pepper: Keyring, canonical: string): string {
  return keyForVersion(pepper, pepper.current, canonical);
}

function keyForVersion(pepper: Keyring, version: number, canonical: string): string {
  const mac = macOf(pepper, version, 'number:', canonical).subarray(0, RECIPIENT_KEY_BYTES);
  return `${version}:${mac.toString('base64url')}`;
}

/**
 * What tells whether a request repeats another one's body, in the order of `recipientKeys`: the version (1 byte), then
 * HMAC-SHA256(pepper, `body:` ‖ body). 33 bytes. A body is little more than a number.
 */
export function bodyHashes(pepper: Keyring, body: Uint8Array): Buffer[] {
  return versionsOf(pepper).map((version) =>
    Buffer.concat([Buffer.of(version), macOf(pepper, version, 'body:', body)]),
  );
}

/** The versions of a keyring's keys, the current one first. */
export const versionsOf = ({ current, keys }: Keyring): number[] => [
  current,
  ...[...keys.keys()].filter((version) => version !== current),
];

const macOf = (pepper: Keyring, version: number, label: string, data: string | Uint8Array): Buffer =>
  createHmac('sha256', requireKey(pepper, version)).update(label).update(data).digest();
