import { hash, randomBytes } from 'node:crypto';
import type { Mode } from '../sends/send.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^27 is the first power of 62 above 2^160. */
const SECRET_CHARACTERS = 27;
/** 62^6 is the first power of 62 above 2^32. */
const CHECKSUM_CHARACTERS = 6;
const SECRET_BYTES = 20;
const KEY_CHARACTERS = 'ak_test_'.length + SECRET_CHARACTERS + CHECKSUM_CHARACTERS;
const FORM = /^ak_(?:test|live)_[0-9A-Za-z]+$/;

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, '0');
}

/** Returns the CRC-32 defined in ISO 3309, which zip and PNG use. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_CHARACTERS);

/** Generates an API key: `ak_test_` or `ak_live_`, 160 random bits in base62, and the CRC-32 of both, which detects typing errors. */
export function generateApiKey(mode: Mode): string {
  const body = `ak_${mode}_${base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARACTERS)}`;
  return body + checksum(body);
}

/** Returns whether the text has the form and the checksum of a key. Such a key may not exist. */
export function isApiKey(text: string): boolean {
  return (
    text.length === KEY_CHARACTERS &&
    FORM.test(text) &&
    checksum(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS)
  );
}

/** Returns the stored form of a key: its SHA-256. The key has 160 random bits, so a slow hash would add nothing. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/**
 * Returns the stored form of a refused request's idempotency key: the SHA-256 of its bytes, by which a person who knows the key can find
 * the request.
 */
export function hashIdempotencyKey(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** Returns the part of a key that stays visible after its creation: its prefix and its last four characters. */
export function apiKeyHint(key: string): string {
  return `${key.slice(0, 8)}…${key.slice(-4)}`;
}
