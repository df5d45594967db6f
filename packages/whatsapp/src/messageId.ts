import { hash } from 'node:crypto';

const MESSAGE_ID_CHARACTERS_MAX = 512;

/**
 * What stands for a message id of the provider, which holds the recipient's number in base64: its SHA-256 in base64url. Its 72 random
 * bits hide the number (seen in ids of the Cloud API; Meta documents none of their form).
 *
 * @returns null for what is no message id: a string of 1 to 512 characters without control characters and without lone surrogates
 * (UTF-8 cannot encode them, so that different ids would become the same)
 */
export function messageIdOf(value: unknown): string | null {
  const isMessageId =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MESSAGE_ID_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
  return isMessageId ? hash('sha256', value, 'base64url') : null;
}
