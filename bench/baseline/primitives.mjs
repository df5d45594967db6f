import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import pg from 'pg';

/** The parts that the baseline needs: connections, ids, hashes and encrypted codes. */

/**
 * The service's own settings: query plans that use indexes only, made once. A plan made while a table was empty would scan the whole table
 * for seconds, and the baseline would be slower than minimal code needs to be.
 */
const CONNECTION_SETTINGS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
];
const CONNECTIONS_MAX = 20;

/** @param {string | undefined} url */
export const openPool = (url) =>
  new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    options: CONNECTION_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  });

/** Returns a UUID of version 7: ids grow with time, so that indexes grow at one end. */
export function newId() {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const key = createHash('sha256').update('baseline').digest();

/** @param {string | Buffer} text */
export const sha256 = (text) => createHash('sha256').update(text).digest();

/**
 * @param {string} id
 * @param {string} code
 */
export const hashCode = (id, code) => createHmac('sha256', key).update(id).update(code).digest();

/**
 * @param {string} id
 * @param {string} code
 */
export function encrypt(id, code) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id));
  const encrypted = Buffer.concat([cipher.update(code), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/**
 * @param {string} id
 * @param {Buffer} encrypted
 */
export function decrypt(id, encrypted) {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, 12))
    .setAAD(Buffer.from(id))
    .setAuthTag(encrypted.subarray(12, 28));
  return Buffer.concat([decipher.update(encrypted.subarray(28)), decipher.final()]).toString();
}
