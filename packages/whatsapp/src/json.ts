/** The members of a JSON object, or none for anything else, so that reading foreign JSON never throws. */
export function members(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The elements of a JSON array, or none for anything else. */
export function elements(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An error code as a 32-bit integer, or null. Meta sends numbers; some resellers of its API send digits in a string. */
export function errorNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && (number | 0) === number ? number : null;
}

/** The value of a JSON text, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a member is absent, null or has the value that is expected. */
export function isAbsentOr(value: unknown, expected: string): boolean {
  return value === undefined || value === null || value === expected;
}
