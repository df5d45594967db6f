import type { IncomingMessage } from 'node:http';
import { trimOuter } from '@onecode/domain';

/**
 * Returns the bytes of the `Idempotency-Key` without outer spaces and tabs, or null without a key. The length is not limited. Node returns
 * header values in latin1, one character for each byte. `trim()` would also remove the byte 0xA0, which ends many letters in UTF-8.
 */
export function idempotencyKeyBytes(request: IncomingMessage): Buffer | null {
  const header = request.headers['idempotency-key'];
  const key = trimOuter(typeof header === 'string' ? header : '', ' \t');
  return key === '' ? null : Buffer.from(key, 'latin1');
}
