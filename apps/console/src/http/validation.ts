import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { ConsoleProblem } from './problem.js';

const ajv = new Ajv({ allErrors: true, strict: false });
addFormats.default(ajv);
/** Query parameters are text: this validator converts them to numbers and booleans, and fills in defaults. */
const queryAjv = new Ajv({ allErrors: true, strict: false, coerceTypes: true, useDefaults: true });
addFormats.default(queryAjv);

export type Reader<S extends TSchema> = (value: unknown) => Static<S>;

/** Returns a function that checks request bodies. @throws ConsoleProblem `invalid_input` with the invalid fields */
export function bodyReader<S extends TSchema>(schema: S): Reader<S> {
  return readerWith(ajv, schema);
}

/** Returns a function that checks and converts query parameters. @throws ConsoleProblem `invalid_input` with the invalid parameters */
export function queryReader<S extends TSchema>(schema: S): Reader<S> {
  const read = readerWith(queryAjv, schema);
  return (value) => read({ ...(value as object) });
}

function readerWith<S extends TSchema>(validator: Ajv, schema: S): Reader<S> {
  const validate = validator.compile<Static<S>>(schema);
  return (value) => {
    if (validate(value)) return value;
    throw new ConsoleProblem('invalid_input', { errors: faultsOf(validate.errors ?? []) });
  };
}

/** The first fault of each field, as the schema keyword that it violates, such as `minLength`. Never the value. */
function faultsOf(errors: readonly ErrorObject[]): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const { instancePath, keyword, params } of errors) {
    const missing = (params as { missingProperty?: string }).missingProperty;
    const field = [instancePath.slice(1).replaceAll('/', '.'), missing].filter(Boolean).join('.') || 'body';
    faults[field] ??= keyword;
  }
  return faults;
}
