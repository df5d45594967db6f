import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { requireKey, type Keyring } from '../security/keyring.js';

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
  return Buffer.concat([Buffer.of(pepper.current), macOf(requireKey(pepper, pepper.current), sendId, code)]);
}

/**
 * Returns whether `guess` is the code that a send's stored hash was made of. The comparison takes the same time for every guess.
 *
 * @param codeHash what `hashCode` returned
 * @throws Error when the keyring no longer has the key of the hash
 */
export function matchesCode(pepper: Keyring, sendId: string, guess: string, codeHash: Uint8Array): boolean {
  return timingSafeEqual(
    macOf(requireKey(pepper, codeHash[0] as number), sendId, guess),
    codeHash.subarray(1),
  );
}
