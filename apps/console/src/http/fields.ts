import { isCountry } from '@onecode/domain';
import { Type, type TProperties } from 'typebox';
import { Format } from 'typebox/format';
import { ConsoleProblem } from './problem.js';

/** An object without additional members. @param options `minProperties` for a body with optional members that must change something */
export const strictObject = <Members extends TProperties>(
  members: Members,
  options: { minProperties?: number } = {},
) => Type.Object(members, { additionalProperties: false, ...options });

/**
 * A name that users choose: one line with at least one visible character; routes trim it. The pattern excludes lone surrogates, which
 * PostgreSQL cannot store, and bidirectional controls, which would change how the text after them reads.
 */
export const nameField = (lengthMax: number) =>
  Type.String({
    minLength: 1,
    maxLength: lengthMax,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+$',
  });

/** An id in a body or query; ids in a path are checked for every route. */
export const idField = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

/** An RFC 3339 time in this century, which PostgreSQL can compare; no leap second, which JavaScript cannot represent. */
export const timeField = Type.String({
  format: 'date-time',
  pattern:
    '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
});

/** Cursor pagination: `before` is the `next` of the previous page. */
export const pageFields = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  before: Type.Optional(Type.String({ maxLength: 200 })),
};

/** Excludes addresses that TypeBox accepts but that are never intended: quoted names, IP addresses, and domains without a dot. */
Format.Set('email', (value) => Format.IsEmail(value) && /^[^"]+@[^@[]+\.[^.@[]+$/.test(value));

/** An e-mail address in any case; routes lower it. */
export const emailField = Type.String({ format: 'email', maxLength: 254 });

/** ISO 3166 country codes; `readCountries` checks that they exist. */
export const countriesField = (lengthMax: number) =>
  Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { minItems: 1, maxItems: lengthMax });

/** Returns the countries sorted, each once. @throws ConsoleProblem `invalid_input` for an unknown one */
export function readCountries(codes: readonly string[]): string[] {
  if (!codes.every(isCountry))
    throw new ConsoleProblem('invalid_input', { errors: { countries: 'unknown' } });
  return [...new Set(codes)].toSorted();
}

/** A language of the messages and the pages. */
export const languageField = Type.Enum(['pt-BR', 'en']);
