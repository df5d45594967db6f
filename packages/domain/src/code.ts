import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { keyOf, type Keyring } from './keyring.js';

/** The code of a test send whose caller chose none. */
export const TEST_CODE = '000000';
const GENERATED_DIGITS = 6;

/** A random code of six digits. All are equally likely: `crypto.randomInt` has no modulo bias. */
export function generateCode(): string {
  return String(randomInt(10 ** GENERATED_DIGITS)).padStart(GENERATED_DIGITS, '0');
}

function macOf(key: Buffer, sendId: string, code: string): Buffer {
  // Send ids have one length, so no other id and code give the same bytes.
  return createHmac('sha256', key).update(sendId).update(code).digest();
}

/** What is stored to check a code: the key version (1 byte), then HMAC-SHA256(pepper, send id ‖ code). 33 bytes. */
export function hashCode(pepper: Keyring, sendId: string, code: string): Buffer {
  return Buffer.concat([Buffer.of(pepper.current), macOf(keyOf(pepper, pepper.current), sendId, code)]);
}

/** Whether `guess` is the code behind `hash`, in constant time. @throws Error when the hash's pepper has left the keyring. */
export function codeMatches(pepper: Keyring, sendId: string, hash: Uint8Array, guess: string): boolean {
  const version = hash[0] as number;
  return timingSafeEqual(hash.subarray(1), macOf(keyOf(pepper, version), sendId, guess));
}
