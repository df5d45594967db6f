import { hash } from 'node:crypto';

/**
 * Returns the stored form of a refused request's idempotency key: the SHA-256 of its bytes, by which a person who knows the key can find
 * the request.
 */
export function hashIdempotencyKey(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
