import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { requireKey, type Keyring } from '../security/keyring.js';

/** The code of a test send if the caller did not choose one. */
export const TEST_CODE = '000000';
const GENERATED_DIGITS = 6;

/** Returns a random code of six digits. All are equally likely, because `crypto.randomInt` has no modulo bias. */
export function generateCode(): string {
  return String(randomInt(10 ** GENERATED_DIGITS)).padStart(GENERATED_DIGITS, '0');
}

function computeMac(key: Buffer, sendId: string, code: string): Buffer {
  // All send ids have the same length, so no other id and code give the same bytes.
  return createHmac('sha256', key).update(sendId).update(code).digest();
}

/** Returns the stored hash of a code: the key version (1 byte), then HMAC-SHA256(pepper, send id ‖ code). 33 bytes. */
export function hashCode(pepper: Keyring, sendId: string, code: string): Buffer {
  return Buffer.concat([
    Buffer.of(pepper.current),
    computeMac(requireKey(pepper, pepper.current), sendId, code),
  ]);
}

/**
 * Returns whether `guess` matches a send's stored code hash. The comparison takes the same time for every guess.
 *
 * @param codeHash a result of `hashCode`
 * @throws Error if the keyring no longer has the key of the hash
 */
export function matchesCode(pepper: Keyring, sendId: string, guess: string, codeHash: Uint8Array): boolean {
  return timingSafeEqual(
    computeMac(requireKey(pepper, codeHash[0] as number), sendId, guess),
    codeHash.subarray(1),
  );
}
