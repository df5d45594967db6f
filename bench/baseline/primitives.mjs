import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

const key = createHash('sha256').update('floor').digest();

/**
 * @param {string} id
 * @param {string} code
 */
export const hashCode = (id, code) => createHmac('sha256', key).update(id).update(code).digest();

/** @param {string | Buffer} text */
export const sha256 = (text) => createHash('sha256').update(text).digest();

/**
 * @param {string} id
 * @param {string} code
 */
export function seal(id, code) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id));
  const sealed = Buffer.concat([cipher.update(code), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/**
 * @param {string} id
 * @param {Buffer} box
 */
export function unseal(id, box) {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, 12))
    .setAAD(Buffer.from(id))
    .setAuthTag(box.subarray(12, 28));
  return Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString();
}

/** An id of version 7: in the order of time, so that indexes grow at one end. */
export function newId() {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
