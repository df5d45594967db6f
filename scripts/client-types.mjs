import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROBLEMS } from '@onecode/domain';
import { parse } from 'yaml';
import { root } from './checkout.mjs';

/** The generated file with the SDK's types. It is committed because the SDK is also read as source; a test compares it with the contract. */
const TARGET = join(root, 'packages/client/src/contract.ts');

const OXFMT = join(root, 'node_modules/oxfmt/bin/oxfmt');

/** The schemas of openapi.yaml that become types, by name. */
const TYPES = [
  'CreateSend',
  'Send',
  'DeliveryStatus',
  'Verification',
  'VerifyResult',
  'SignupSettings',
  'Problem',
  'ProblemCode',
];

/** Enumerations that the SDK checks answers against, with the names of their lists. */
const LISTS = {
  DeliveryStatus: 'DELIVERY_STATUSES',
  Verification: 'VERIFICATIONS',
};

/**
 * @typedef {{ type?: string | string[], enum?: (string | null)[], $ref?: string, description?: string, required?: string[],
 *   properties?: Record<string, Schema>, anyOf?: [Schema, Schema], additionalProperties?: false | Schema }} Schema
 */

/**
 * Returns the SDK's types and lists as TypeScript from the contract, and the table of problems from the domain.
 * @returns {string}
 */
export function clientTypes() {
  const document = parse(readFileSync(join(root, 'apps/api/openapi.yaml'), 'utf8'));
  const made = TYPES.map((name) => declaration(name, document.components.schemas[name]));
  const text = [
    '// Made from openapi.yaml and domain/problems.ts by `npm run generate`.',
    ...made,
    problems(),
  ].join('\n\n');
  return execFileSync(process.execPath, [OXFMT, `--stdin-filepath=${TARGET}`], {
    cwd: root,
    encoding: 'utf8',
    input: text,
  });
}

function problems() {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, meaning }]) => `${code}: [${status}, ${JSON.stringify(meaning)}],`,
  );
  return `/** The HTTP status and the meaning of each problem; the meaning is the detail of one that has no other. */
    export const PROBLEMS = {${rows.join('\n')}} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;`;
}

/**
 * @param {string} name
 * @param {Schema} schema
 */
function declaration(name, schema) {
  const comment = docComment(schema.description);
  const list = Object.entries(LISTS).find(([type]) => type === name)?.[1];
  if (schema.properties === undefined)
    return [
      `${comment}export type ${name} = ${typeOf(schema)};`,
      ...(list === undefined
        ? []
        : [`export const ${list}: readonly ${name}[] = ${JSON.stringify(schema.enum)};`]),
    ].join('\n\n');
  const members = Object.entries(schema.properties).map(([key, property]) => {
    const isRequired = schema.required?.includes(key);
    // Optional values may be undefined, so that callers with `exactOptionalPropertyTypes` can pass on their own options.
    return `${docComment(property.description)}${key}${isRequired ? '' : '?'}: ${typeOf(property)}${isRequired ? '' : ' | undefined'};`;
  });
  return `${comment}export interface ${name} {\n${members.join('\n')}\n}`;
}

/**
 * @param {Schema} schema
 * @returns {string}
 */
function typeOf(schema) {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  // An open set: the named values, which editors suggest, and any other text.
  if (schema.anyOf !== undefined) return `${typeOf(schema.anyOf[0])} | (string & {})`;
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (typeof schema.additionalProperties === 'object')
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`;
  return [schema.type ?? 'nothing']
    .flat()
    .map((type) => {
      if (type === 'integer') return 'number';
      if (['string', 'boolean', 'null'].includes(type)) return type;
      throw new Error(`there is no TypeScript for a schema of ${type}`);
    })
    .join(' | ');
}

/** @param {string | undefined} description */
function docComment(description) {
  if (description === undefined) return '';
  const lines = description.trim().split('\n');
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(TARGET, clientTypes());
