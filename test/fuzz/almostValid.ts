import fc from 'fast-check';
import type { Operation, Schema } from './contract.js';
import {
  REFUSED,
  withHeader,
  without,
  type RequestDraft,
  type EditableRequest,
  bytesOf,
  changed,
  pickFrom,
  type Rule,
} from './request.js';

/** Valid requests with one rule broken, or with one change that must make no difference. */
export function almostValidRequests(
  operation: Operation,
  good: fc.Arbitrary<RequestDraft>,
): fc.Arbitrary<RequestDraft> {
  const groups = [
    TARGETS,
    NO_DIFFERENCE,
    operation.needsKey ? CREDENTIALS : [],
    operation.headers.flatMap(({ name, schema }) => headerRules(name, schema)),
    operation.body === null ? [] : [...BODIES, ...memberRules(operation.body.schema)],
  ];
  return fc.oneof(
    ...groups.filter((rules) => rules.length > 0).map((rules) => changed('almost valid', good, rules)),
  );
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE'];

/** Edits one of a pattern's matches. */
function edited(text: string, pattern: RegExp, pick: number, edit: (found: string) => string): string {
  const places = [...text.matchAll(pattern)];
  const { index, 0: found } = pickFrom<RegExpExecArray>(places, pick);
  return text.slice(0, index) + edit(found) + text.slice(index + found.length);
}

/** A change of the path's fixed part, so that no route matches. */
const path = (name: string, change: (target: string, pick: number) => string): Rule => ({
  name,
  change: ({ target }, pick) => ({ target: change(target, pick), expected: [404] }),
});

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;
/** The words of the path's fixed part; ids begin with a digit. */
const FIXED = /(?<=\/)[a-z][a-z0-9-]*(?=\/|$)/g;

const TARGETS: Rule[] = [
  path('a trailing slash', (target) => `${target}/`),
  path('a doubled slash', (target, pick) => edited(target, /\//g, pick, () => '//')),
  path('a capital letter in the path', (target, pick) =>
    edited(target, FIXED, pick, (word) => word.toUpperCase()),
  ),
  path('a percent-encoded letter of the path', (target, pick) =>
    edited(target, FIXED, pick, (word) => percent(word.charAt(0)) + word.slice(1)),
  ),
  path('a percent-encoded slash', (target, pick) => edited(target, /(?<=.)\//g, pick, () => '%2F')),
  path('a dot segment', (target, pick) => edited(target, /\//g, pick, () => pickFrom(['/./', '/../'], pick))),
  path('a path parameter in a segment', (target) => `${target};a=b`),
  path('a fragment', (target) => `${target}#x`),
  path('a file extension', (target) => `${target}.json`),
  path('an extra segment', (target) => `${target}/more`),
  path('a missing segment', (target) => target.replace(/\/[^/]+/, '') || '/'),
  {
    name: 'another method',
    change: ({ from, method }, pick) => {
      const other = pickFrom(
        METHODS.filter((each) => each !== method),
        pick,
      );
      return { method: other, expected: from.methods.includes(other) ? null : [405] };
    },
  },
];

const NO_DIFFERENCE: Rule[] = [
  {
    name: 'a query',
    change: ({ target }, pick) => ({
      target: target + pickFrom(['?', '?a=b', '?id=1&id=2', '?%00', '?%', '??'], pick),
    }),
  },
  {
    name: 'an absolute address',
    change: ({ target }) => ({ target: `http://codes.test${target}` }),
  },
  {
    name: 'another media type',
    change: ({ headers }, pick) => ({
      headers: withHeader(
        headers,
        'Content-Type',
        pickFrom(['text/plain', 'application/xml', '', ';', 'a'], pick),
      ),
    }),
  },
  {
    name: 'no media type',
    change: ({ headers }) => ({ headers: without(headers, 'Content-Type') }),
  },
  {
    name: 'another header',
    change: ({ headers }, pick) => ({
      headers: withHeader(
        headers,
        pickFrom(
          ['Accept', 'Accept-Language', 'Origin', 'Cookie', 'Range', 'If-None-Match', 'X-Request-Id'],
          pick,
        ),
        pickFrom(['*', 'bytes=0-', ',,,', 'application/xml;q=2', '"', 'null'], pick >> 3),
      ),
    }),
  },
  {
    name: 'header names in another case',
    change: ({ headers }, pick) => ({
      headers: headers.map(
        ([name, value]) => [pick % 2 === 0 ? name.toUpperCase() : name.toLowerCase(), value] as const,
      ),
    }),
  },
];

/** A credential that belongs to no caller. */
const credential = (name: string, change: (key: string, pick: number) => string): Rule => ({
  name,
  change: ({ headers }, pick) => {
    const key =
      /^Bearer (.*)$/.exec(headers.find(([each]) => each === 'Authorization')?.[1] ?? '')?.[1] ?? '';
    return { headers: withHeader(headers, 'Authorization', change(key, pick)), expected: [401] };
  },
});

const CREDENTIALS: Rule[] = [
  credential('an empty credential', (_key, pick) =>
    pickFrom(['', 'Bearer', 'Bearer ', 'Bearer\t', 'bearer  '], pick),
  ),
  credential(
    'another scheme',
    (key, pick) => `${pickFrom(['Basic', 'Token', 'Bear', 'Bearer:', 'xBearer'], pick)} ${key}`,
  ),
  credential('no scheme', (key) => key),
  credential('a key with one character too few', (key) => `Bearer ${key.slice(0, -1)}`),
  credential('a key with one character too many', (key) => `Bearer ${key}0`),
  credential('a key with one other character', (key, pick) => {
    const at = pick % key.length;
    return `Bearer ${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`;
  }),
  credential('two keys', (key) => `Bearer ${key}, Bearer ${key}`),
  {
    name: 'no credential',
    change: ({ headers }) => ({ headers: without(headers, 'Authorization'), expected: [401] }),
  },
  {
    name: 'a revoked key',
    change: ({ headers }, _pick, { revokedKey }) => ({
      headers: withHeader(headers, 'Authorization', `Bearer ${revokedKey}`),
      expected: [401],
    }),
  },
];

function headerRules(name: string, { maxLength }: Schema): Rule[] {
  if (maxLength === undefined) return [];
  return [
    {
      name: `${name} one byte too long`,
      change: ({ headers }) => ({
        headers: withHeader(headers, name, 'k'.repeat(maxLength + 1)),
        expected: REFUSED,
      }),
    },
    {
      name: `${name} too long in bytes and not in characters`,
      change: ({ headers }) => ({
        headers: withHeader(headers, name, '\xc3\xa4'.repeat(maxLength - 1)),
        expected: REFUSED,
      }),
    },
    {
      name: `${name} with outer spaces`,
      change: ({ headers, expected }, pick) => ({
        headers: withHeader(
          headers,
          name,
          `  \t${'k'.repeat(maxLength - 9)}${String(pick % 1e9).padStart(9, '0')} \t`,
        ),
        expected,
      }),
    },
  ];
}

/** A change of the body's text that the operation must refuse. */
const body = (
  name: string,
  change: (json: string, pick: number, request: EditableRequest) => string | Buffer,
): Rule => ({
  name: `a body ${name}`,
  change: (request, pick) => ({
    ...bytesOf(change(JSON.stringify(request.value), pick, request)),
    expected: REFUSED,
  }),
});

const BODIES: Rule[] = [
  body('that is empty', () => ''),
  body('that is white space', () => ' \n'),
  body('that is truncated', (json, pick) => json.slice(0, 1 + (pick % (json.length - 1)))),
  body('with a trailing comma', (json) => json.replace(/\}$/, ',}')),
  body('with trailing text', (json, pick) => json + pickFrom(['}', 'x', ',', '{}', '\0', json], pick)),
  body('with a comment', (json) => `${json}// a comment`),
  body('in single quotes', (json) => json.replaceAll('"', "'")),
  body('without quotes', (json) => json.replaceAll('"', '')),
  body('in an array', (json) => `[${json}]`),
  body('in a string', (json) => JSON.stringify(json)),
  body('of another type', (_json, pick) => pickFrom(['null', '0', 'true', '""', '[]', 'NaN'], pick)),
  body('with an unknown member', (json) => json.replace(/^\{/, '{"more":"x",')),
  body('as a form', (_json, _pick, { value }) =>
    new URLSearchParams(value as Record<string, string>).toString(),
  ),
];

function memberRules({ properties = {}, required = [] }: Schema): Rule[] {
  const bare = required.length > 0 ? [body('without members', () => '{}')] : [];
  const members = Object.entries(properties).flatMap(([name, schema]) => [
    ...anyMemberRules(name, schema),
    ...(required.includes(name) ? [member(name, 'missing', () => undefined)] : []),
    ...(schema.enum === undefined ? [] : [enumRule(name, schema.enum)]),
    ...(schema.pattern === undefined ? [] : [patternRule(name, new RegExp(schema.pattern))]),
  ]);
  return [...bare, ...members];
}

/** Changes the value of one member to an invalid one; undefined removes the member. */
const member = (name: string, what: string, change: (value: unknown, pick: number) => unknown): Rule => ({
  name: `the member ${name} ${what}`,
  change: ({ value }, pick) => {
    const members = value as Record<string, unknown>;
    const other = { ...members, [name]: change(members[name], pick) };
    return { value: other, ...bytesOf(JSON.stringify(other)), expected: REFUSED };
  },
});

const ANY_TYPE: readonly [type: string, value: unknown][] = [
  ['number', 123_456],
  ['boolean', true],
  ['null', null],
  ['array', ['x']],
  ['object', { x: 'y' }],
  ['string', 'x'],
];

function anyMemberRules(name: string, { type = 'string' }: Schema): Rule[] {
  const types = new Set([type].flat());
  const others = ANY_TYPE.filter(([each]) => !types.has(each)).map(([, value]) => value);
  const text = (request: EditableRequest): string => {
    const members = request.value as Record<string, unknown>;
    return JSON.stringify({ ...members, [name]: members[name] ?? 'x' });
  };
  return [
    member(name, 'of another type', (_value, pick) => pickFrom(others, pick)),
    body(`with ${name} in another case`, (_json, pick, request) =>
      text(request).replace(
        `"${name}":`,
        `"${pickFrom([name.toUpperCase(), ` ${name}`, `${name} `], pick)}":`,
      ),
    ),
    body(`with ${name} twice`, (_json, pick, request) =>
      text(request).replace(/^\{/, `{"${pickFrom([name, escapedName(name)], pick)}":"x",`),
    ),
  ];
}

const escapedName = (name: string): string =>
  `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`;

function enumRule(name: string, values: readonly unknown[]): Rule {
  const near = values
    .map(String)
    .flatMap((value) => [
      value.toUpperCase(),
      value.toLowerCase(),
      `${value} `,
      value.slice(0, -1),
      `${value}\0`,
    ]);
  const wrong = [...near.filter((value) => !values.includes(value)), ''];
  return member(name, 'one character away from its values', (_value, pick) => pickFrom(wrong, pick));
}

function patternRule(name: string, pattern: RegExp): Rule {
  return member(name, 'one character away from its pattern', (value, pick) => {
    const text = typeof value === 'string' && value !== '' ? value : '12345';
    const at = (pick >> 4) % text.length;
    const near = [
      `${text.slice(0, at)}x${text.slice(at + 1)}`,
      `${text}\n`,
      ` ${text}`,
      `${text.slice(0, at)}\u0661${text.slice(at + 1)}`,
      lengthenedUntilInvalid(text, pattern),
      shortenedUntilInvalid(text, pattern),
    ].filter((each) => !pattern.test(each));
    return pickFrom(near, pick);
  });
}

const lengthenedUntilInvalid = (text: string, pattern: RegExp): string =>
  pattern.test(text) && text.length < 1_000 ? lengthenedUntilInvalid(`${text}${text.at(-1)}`, pattern) : text;
const shortenedUntilInvalid = (text: string, pattern: RegExp): string =>
  pattern.test(text) && text.length > 1 ? shortenedUntilInvalid(text.slice(0, -1), pattern) : text;
