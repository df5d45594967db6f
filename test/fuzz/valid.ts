import { newId } from '@onecode/store/client';
import fc from 'fast-check';
import type { Operation, Schema } from './contract.js';
import { pathOf, type RequestDraft, type Header, PICK } from './request.js';

/** Values that a schema accepts. For a string without a pattern its examples show the format. */
export function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? 'string'].flat();
  return fc.oneof(...types.map((type) => valueOfType(type, schema)));
}

function valueOfType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 5 });
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`unknown type ${type}`);
  }
}

function textOf({ pattern, maxLength = 100, examples = [] }: Schema): fc.Arbitrary<string> {
  const like = examples.filter((example) => typeof example === 'string').map((example) => similarTo(example));
  if (pattern !== undefined) return fc.oneof(fc.stringMatching(new RegExp(pattern)), ...like);
  return like.length > 0 ? fc.oneof(...like) : fc.string({ maxLength });
}

/** The example itself or with other final digits. */
function similarTo(example: string): fc.Arbitrary<string> {
  const digits = /\d{0,4}$/.exec(example)?.[0].length ?? 0;
  const other = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: digits, maxLength: digits });
  return fc.oneof(
    fc.constant(example),
    other.map((end) => example.slice(0, example.length - digits) + end),
  );
}

function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valueOf(each)]));
  return fc.record(members, { requiredKeys: required }).map((value) => ({ ...value }));
}

/** Different JSON texts of the same value. */
const SERIALIZERS: readonly ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => ` \t\r\n${JSON.stringify(value)}\n`,
  (value) => JSON.stringify(reversed(value)),
  (value) => escaped(JSON.stringify(value)),
];

function reversed(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toReversed())
    : value;
}

/** Escapes the letters in the strings of a JSON text. */
function escaped(json: string): string {
  return json.replaceAll(/"[^"\\]*"/g, (text) =>
    text.replaceAll(/[a-z]/gi, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Valid values of a header: none, a shared one, or a unique one up to the maximum length. */
function headerValues({ schema }: { schema: Schema }): fc.Arbitrary<string | null> {
  const length = schema.maxLength ?? 100;
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.nat(40).map((number) => `shared-${number}`) },
    { weight: 3, arbitrary: fc.string({ unit: visible, minLength: 20, maxLength: 60 }) },
    { weight: 1, arbitrary: fc.string({ unit: visible, minLength: length, maxLength: length }) },
  );
}

/** Requests that keep every rule of the document, by a caller who may still be refused. */
export function validRequests(operation: Operation): fc.Arbitrary<RequestDraft> {
  const { body } = operation;
  return fc
    .record({
      caller: PICK,
      id: PICK,
      headers: fc.tuple(...operation.headers.map(headerValues)),
      value:
        body === null
          ? fc.constant(undefined)
          : fc.oneof(
              valueOf(body.schema),
              valueOf(body.schema),
              ...body.examples.map((each) => fc.constant(each)),
            ),
      write: fc.constantFrom(...SERIALIZERS),
    })
    .map(({ caller: pick, id, headers, value, write }): RequestDraft => (context) => {
      const caller = context.caller(pick);
      const own = context.ownId(caller.name, id);
      const isUnknown = operation.pathParameters.length > 0 && own === null;
      const parameters = Object.fromEntries(operation.pathParameters.map((name) => [name, own ?? newId()]));
      const given = operation.headers.flatMap(({ name }, index): Header[] => {
        const text = headers[index];
        return text === undefined || text === null ? [] : [[name, text]];
      });
      const good = operation.statuses.filter((status) => status < 300);
      const possible = [
        ...(isUnknown ? [404] : good),
        ...caller.refusals,
        ...(given.length > 0 ? [409] : []),
      ];
      return {
        kind: 'valid',
        operation: operation.id,
        rule: 'keeps every rule',
        from: operation,
        caller: caller.name,
        method: operation.method,
        target: pathOf(operation.template, parameters),
        parameters,
        headers: [
          ['Host', 'codes.test'],
          ...(operation.needsKey ? [['Authorization', `Bearer ${caller.key}`] as const] : []),
          ...(body === null ? [] : [['Content-Type', 'application/json'] as const]),
          ...given,
        ],
        value,
        ...(value !== undefined && { bytes: Buffer.from(write(value)) }),
        expected: possible.filter((status) => operation.statuses.includes(status)),
      };
    });
}
