import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { parse } from 'yaml';

interface ResponseNode {
  $ref?: string;
  headers?: Record<string, { $ref: string }>;
  content: Record<string, unknown>;
}

/** openapi.yaml as it stands. */
export const source = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, { responses: Record<string, ResponseNode> }>>;
  components: { responses: Record<string, ResponseNode> };
};

const ajv = new Ajv2020({ strict: true, allErrors: true });
ajvFormats.default(ajv);
// The document around its schemas: strict mode has to know the names of its parts.
ajv.addVocabulary(Object.keys(source));
ajv.addSchema(source, 'openapi');

/** Compiles the schema at a JSON pointer into openapi.yaml, such as `/components/schemas/Send`. Throws if none is there. */
export function validatorAt(pointer: string): ValidateFunction {
  const validate = ajv.getSchema(`openapi#${pointer}`);
  if (validate === undefined) throw new Error(`openapi.yaml has no schema at ${pointer}`);
  return validate;
}
