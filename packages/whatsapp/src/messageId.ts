import { hash } from 'node:crypto';

const MESSAGE_ID_CHARACTERS_MAX = 512;

/**
 * Returns the SHA-256 of Meta's message id, in base64url. The id itself contains the recipient's number in base64, and its 72 random bits
 * make the hash irreversible. (Observed in ids of the Cloud API; Meta does not document their form.)
 *
 * @returns null unless the value is a string of 1 to 512 characters without control characters and without lone surrogates. UTF-8 cannot
 * encode lone surrogates, so different ids would get the same hash.
 */
export function messageIdOf(value: unknown): string | null {
  const isMessageId =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MESSAGE_ID_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
  return isMessageId ? hash('sha256', value, 'base64url') : null;
}
