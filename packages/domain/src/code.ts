import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto';
import { keyOf, type Keyring } from './keyring.js';

/** The code of every test send whose caller chose none. */
export const TEST_CODE = '000000';
const GENERATED_DIGITS = 6;

/** A code of six digits, each as likely as any other (`crypto.randomInt` rejects to stay unbiased). */
export function generateCode(): string {
  return String(randomInt(10 ** GENERATED_DIGITS)).padStart(GENERATED_DIGITS, '0');
}

function macOf(key: Buffer, sendId: string, code: string): Buffer {
  // A send id has a fixed length, so id and code cannot run into each other.
  return createHmac('sha256', key).update(sendId).update(code).digest();
}

/** What is kept of a code for checking: one byte of key version, then HMAC-SHA256(pepper, send id ‖ code). 33 bytes. */
export function hashCode(pepper: Keyring, sendId: string, code: string): Buffer {
  return Buffer.concat([Buffer.of(pepper.current), macOf(keyOf(pepper, pepper.current), sendId, code)]);
}

/** Whether `guess` is the code behind `hash`, in constant time. @throws Error when the hash's pepper has left the keyring. */
export function codeMatches(pepper: Keyring, sendId: string, hash: Uint8Array, guess: string): boolean {
  const version = hash[0] as number;
  return timingSafeEqual(hash.subarray(1), macOf(keyOf(pepper, version), sendId, guess));
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals a secret with AES-256-GCM, bound to the id of what it belongs to: version (1 byte), nonce (12), tag (16), ciphertext.
 */
export function seal(keyring: Keyring, ownerId: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(keyring, keyring.current), nonce).setAAD(
    Buffer.from(ownerId),
  );
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(keyring.current), nonce, cipher.getAuthTag(), sealed]);
}

/** The version of the key that a box was sealed with. */
export function sealedVersion(box: Uint8Array): number {
  return box[0] as number;
}

/** Opens what `seal` closed. @throws Error when the box was altered, belongs to another owner, or its key is gone. */
export function unseal(keyring: Keyring, ownerId: string, box: Uint8Array): string {
  const key = keyOf(keyring, sealedVersion(box));
  const nonce = box.subarray(1, 1 + NONCE_BYTES);
  const tag = box.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(ownerId))
    .setAuthTag(tag);
  const opened = Buffer.concat([
    decipher.update(box.subarray(1 + NONCE_BYTES + TAG_BYTES)),
    decipher.final(),
  ]);
  return opened.toString('utf8');
}
