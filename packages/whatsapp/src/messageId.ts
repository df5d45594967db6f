const MESSAGE_ID_CHARACTERS_MAX = 512;

/**
 * Whether a value can serve as a message id: a string of 1–512 characters without control characters (PostgreSQL refuses
 * NUL) or lone surrogates (they do not survive UTF-8, so two different ids would become one).
 */
export function isMessageId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MESSAGE_ID_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}]/u.test(value)
  );
}
