import { IsInteger, type Static, type TObject, type TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { ConsoleProblem } from './problem.js';

export type Reader<S extends TSchema> = (value: unknown) => Static<S>;

/** Returns a function that checks request bodies. @throws ConsoleProblem `invalid_input` with the invalid fields */
export function bodyReader<S extends TSchema>(schema: S): Reader<S> {
  const validator = Compile(schema);
  return (value) => checked(validator, value);
}

/** Returns a function that checks query parameters, after filling in defaults and converting whole numbers. @throws as `bodyReader` */
export function queryReader<S extends TObject>(schema: S): Reader<S> {
  const validator = Compile(schema);
  // TypeBox's own conversion reads `1.9` as 1 and `true` as 1.
  const read = ([name, value]: [string, unknown]): [string, unknown] =>
    IsInteger(schema.properties[name]) && typeof value === 'string' && /^\d{1,15}$/.test(value)
      ? [name, Number(value)]
      : [name, value];
  return (value) =>
    checked(
      validator,
      Object.fromEntries(Object.entries(validator.Default({ ...(value as object) }) as object).map(read)),
    );
}

function checked<S extends TSchema>(validator: Validator<{}, S>, value: unknown): Static<S> {
  if (validator.Check(value)) return value;
  throw new ConsoleProblem('invalid_input', { errors: faultsOf(validator.Errors(value)) });
}

/** The first error of each field, as the violated schema keyword, such as `minLength`. Never includes the value or an unknown name. */
function faultsOf(errors: readonly TLocalizedValidationError[]): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const { instancePath, keyword, params } of errors) {
    // For a member that is not in the schema.
    if (keyword === 'boolean') continue;
    const missing = keyword === 'required' ? params.requiredProperties : [''];
    for (const name of missing) {
      const field = [instancePath.slice(1).replaceAll('/', '.'), name].filter(Boolean).join('.') || 'body';
      faults[field] ??= keyword;
    }
  }
  return faults;
}
