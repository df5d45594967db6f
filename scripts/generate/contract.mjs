import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';
import { readIfAny } from './file.mjs';

/** The request bodies of openapi.yaml, by the names of their validators. */
const BODIES = {
  validateCreateSend: 'openapi#/components/schemas/CreateSend',
  validateVerifyCode: 'openapi#/components/schemas/VerifyCode',
};

/**
 * Writes what the API needs of apps/api/openapi.yaml: the document as JSON, and the validators of request bodies as code.
 * Reading YAML and compiling schemas would take the API longer than all the rest of its start.
 * @param {string} root the folder that holds package.json
 */
export function generateContract(root) {
  const target = join(root, 'apps/api/src/generated/contract.ts');
  const document = parse(readFileSync(join(root, 'apps/api/openapi.yaml'), 'utf8'));
  const ajv = new Ajv2020({
    allErrors: true,
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  // The document around its schemas: strict mode has to know the names of its parts.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'openapi');
  const made = [
    '// Made from openapi.yaml by scripts/generate/contract.mjs.',
    '// @ts-nocheck',
    standalone.default(ajv, BODIES),
    `export const DOCUMENT = ${JSON.stringify(JSON.stringify(document))};`,
    '',
  ].join('\n');
  // The compiler takes a file that was written anew for a changed one.
  if (readIfAny(target) === made) return;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, made);
}
