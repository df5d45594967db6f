import { isCountry } from '@onecode/domain';
import { Type } from 'typebox';
import { ConsoleProblem } from './problem.js';

/**
 * What people call something: one line with something in it to see. It is kept without the spaces around it. Half a surrogate
 * pair is no text that PostgreSQL can keep, and characters that turn the direction of writing would change what is read after them.
 */
export const nameField = (lengthMax: number) =>
  Type.String({
    minLength: 1,
    maxLength: lengthMax,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+$',
  });

/** The id of something, outside of an address's path. */
export const idField = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

/** A time of RFC 3339 in this century, which PostgreSQL can compare; without leap seconds, which JavaScript has no time for. */
export const timeField = Type.String({
  format: 'date-time',
  pattern:
    '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
});

/** Which page of a list that is read by cursor; `before` is the `next` of the page before. */
export const pageFields = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  before: Type.Optional(Type.String({ maxLength: 200 })),
};

/** An e-mail address, in whatever case. */
export const emailField = Type.String({ format: 'email', maxLength: 254 });

/** ISO 3166 codes of countries, to be read by `readCountries`. */
export const countriesField = (lengthMax: number) =>
  Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { minItems: 1, maxItems: lengthMax });

/** Countries in order, each once. @throws ConsoleProblem for one that there is not */
export function readCountries(codes: readonly string[]): string[] {
  if (!codes.every(isCountry))
    throw new ConsoleProblem('invalid_input', { errors: { countries: 'unknown' } });
  return [...new Set(codes)].toSorted();
}

/** A language of messages and pages. */
export const languageField = Type.Enum(['pt-BR', 'en']);
