import { hash } from 'node:crypto';

/** What is kept of the idempotency key of a refused request: the SHA-256 of its bytes, by which whoever has the key finds the request. */
export function hashIdempotencyKey(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
