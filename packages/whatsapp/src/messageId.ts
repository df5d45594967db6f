const MESSAGE_ID_CHARACTERS_MAX = 512;

/**
 * Whether a value can be a message id: a string of 1 to 512 characters without control characters (PostgreSQL refuses NUL) and without
 * lone surrogates (UTF-8 cannot encode them, so that different ids would become the same).
 */
export function isMessageId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MESSAGE_ID_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}]/u.test(value)
  );
}
