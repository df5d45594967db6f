import { hash } from 'node:crypto';

/**
 * Returns the stored form of a refused request's idempotency key: the SHA-256 of its bytes, by which a person who has the key finds the
 * request.
 */
export function hashIdempotencyKey(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
