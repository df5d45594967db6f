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

const TEXT_LENGTH_MAX = 500;

/** As much of a text as is kept, without what PostgreSQL cannot hold: zero characters and halves of surrogate pairs. */
export function storableText(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).replaceAll(/\0|\p{Surrogate}/gu, '');
}

const MEMBERS_MAX = 50;
const DEPTH_MAX = 8;

/** As much of a JSON value as is kept. */
export function storable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.slice(0, MEMBERS_MAX).map((one) => storable(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MEMBERS_MAX)
      .map(([name, one]) => [storableText(name), storable(one, depth + 1)]),
  );
}
