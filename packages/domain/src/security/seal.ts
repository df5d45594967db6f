import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { keyOf, type Keyring } from './keyring.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals a secret with AES-256-GCM, bound to its owner's id: key version (1 byte), nonce (12), tag (16), ciphertext. */
export function seal(keyring: Keyring, ownerId: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(keyring, keyring.current), nonce).setAAD(
    Buffer.from(ownerId),
  );
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(secret)), cipher.final()]);
  return Buffer.concat([Buffer.of(keyring.current), nonce, cipher.getAuthTag(), ciphertext]);
}

/** The version of the key that sealed this. */
export function sealedVersion(sealed: Uint8Array): number {
  return sealed[0] as number;
}

/** Opens what `seal` sealed. @throws Error when it was altered, belongs to another owner, or its key has left the keyring. */
export function unseal(keyring: Keyring, ownerId: string, sealed: Uint8Array): string {
  const key = keyOf(keyring, sealedVersion(sealed));
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(ownerId))
    .setAuthTag(tag);
  const ciphertext = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
}

/** Opens what `seal` sealed; null where `unseal` throws. */
export function tryUnseal(keyring: Keyring, ownerId: string, sealed: Uint8Array): string | null {
  try {
    return unseal(keyring, ownerId, sealed);
  } catch {
    return null;
  }
}
