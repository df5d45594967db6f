import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { ConsoleProblem } from './problem.js';

const ajv = new Ajv({ allErrors: true, strict: false });
addFormats.default(ajv);
/** What stands in an address is text: numbers and truth values are read from it, and defaults are filled in. */
const addressAjv = new Ajv({ allErrors: true, strict: false, coerceTypes: true, useDefaults: true });
addFormats.default(addressAjv);

export type Reader<S extends TSchema> = (value: unknown) => Static<S>;

/** A reader of request bodies of this shape. @throws ConsoleProblem `invalid_input`, naming the fields at fault */
export function bodyReader<S extends TSchema>(schema: S): Reader<S> {
  return readerWith(ajv, schema);
}

/** A reader of query parameters of this shape. @throws ConsoleProblem `invalid_input`, naming the parameters at fault */
export function queryReader<S extends TSchema>(schema: S): Reader<S> {
  const read = readerWith(addressAjv, schema);
  return (value) => read({ ...(value as object) });
}

function readerWith<S extends TSchema>(validator: Ajv, schema: S): Reader<S> {
  const validate = validator.compile<Static<S>>(schema);
  return (value) => {
    if (validate(value)) return value;
    throw new ConsoleProblem('invalid_input', { errors: faultsOf(validate.errors ?? []) });
  };
}

/** The first fault of each field by the keyword that it breaks, such as `minLength`; never its value. */
function faultsOf(errors: readonly ErrorObject[]): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const { instancePath, keyword, params } of errors) {
    const missing = (params as { missingProperty?: string }).missingProperty;
    const field = [instancePath.slice(1).replaceAll('/', '.'), missing].filter(Boolean).join('.') || 'body';
    faults[field] ??= keyword;
  }
  return faults;
}
