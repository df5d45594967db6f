/** Returns a JSON object or array, or an empty object for any other value, so that reading untrusted JSON never throws. */
export function members(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a JSON array, or an empty array for any other value. */
export function elements(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the items of a JSON array, each as an object, like `members`. */
export const objects = (value: unknown): Record<string, unknown>[] => elements(value).map(members);

/** Returns an error code as a 32-bit integer, or null. Meta sends numbers; some resellers of its API send strings of digits. */
export function errorNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && (number | 0) === number ? number : null;
}

/** Returns the value of a JSON text, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a value has the form of Meta's ids and of phone numbers without `+`. */
export const isMetaId = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9]{1,32}$/.test(value);

const TEXT_LENGTH_MAX = 500;

/** Returns a text cut to the stored length, without characters that PostgreSQL cannot store: NUL and lone surrogates. */
export function storableText(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).replaceAll(/\0|\p{Surrogate}/gu, '');
}

/** Returns a non-empty text as it can be stored; undefined for any other value. */
export const word = (value: unknown): string | undefined =>
  (typeof value === 'string' && storableText(value)) || undefined;

/** Returns Unix seconds, which Meta sends as a number or as digits; null for any other value. */
export function secondsOf(value: unknown): number | null {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

const CLOCK_SKEW_SECONDS = 300;

/** Returns the time of a webhook's `timestamp`, in whole seconds; the current time if it is missing or in the future. */
export function timeOf(timestamp: unknown): Date {
  const now = Date.now();
  const seconds = secondsOf(timestamp);
  return new Date(seconds !== null && seconds <= now / 1000 + CLOCK_SKEW_SECONDS ? seconds * 1000 : now);
}
