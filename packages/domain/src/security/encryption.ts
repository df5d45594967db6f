import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { requireKey, type Keyring } from './keyring.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a secret with AES-256-GCM, bound to its owner's id: key version (1 byte), nonce (12), tag (16), ciphertext. */
export function encrypt(keyring: Keyring, ownerId: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', requireKey(keyring, keyring.current), nonce).setAAD(
    Buffer.from(ownerId),
  );
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(secret)), cipher.final()]);
  return Buffer.concat([Buffer.of(keyring.current), nonce, cipher.getAuthTag(), ciphertext]);
}

/** Returns the version of the key that encrypted this. */
export function encryptionKeyVersion(encrypted: Uint8Array): number {
  return encrypted[0] as number;
}

/** Decrypts a result of `encrypt`. @throws Error if it was altered, belongs to another owner, or its key is no longer in the keyring */
export function decrypt(keyring: Keyring, ownerId: string, encrypted: Uint8Array): string {
  const key = requireKey(keyring, encryptionKeyVersion(encrypted));
  const nonce = encrypted.subarray(1, 1 + NONCE_BYTES);
  const tag = encrypted.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(ownerId))
    .setAuthTag(tag);
  const ciphertext = encrypted.subarray(1 + NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
}

/**
 * Encrypts a result of `encrypt` again with the keyring's current key. @returns null if that key encrypted it, or if it cannot be decrypted
 */
export function reencrypt(
  keyring: Keyring,
  ownerId: string,
  encrypted: Uint8Array,
): Uint8Array<ArrayBuffer> | null {
  const secret = tryDecrypt(keyring, ownerId, encrypted);
  if (secret === null || encryptionKeyVersion(encrypted) === keyring.current) return null;
  return new Uint8Array(encrypt(keyring, ownerId, secret));
}

/** Decrypts a result of `encrypt`; returns null where `decrypt` throws. */
export function tryDecrypt(keyring: Keyring, ownerId: string, encrypted: Uint8Array): string | null {
  try {
    return decrypt(keyring, ownerId, encrypted);
  } catch {
    return null;
  }
}
