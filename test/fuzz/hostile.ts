import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { newId } from '@onecode/store/client';
import fc from 'fast-check';
import type { Operation } from './contract.js';
import { HOSTILE_JSON, hostileStrings, percentEncoded } from './hostileStrings.js';
import {
  pathOf,
  REFUSED,
  utf8,
  withHeader,
  type RequestDraft,
  type Header,
  type EditableRequest,
  bytesOf,
  changed,
  pickFrom,
  PICK,
  type Rule,
} from './request.js';

/** Requests of an attacker: valid HTTP framing with hostile contents. */
export function hostileRequests(
  operation: Operation,
  good: fc.Arbitrary<RequestDraft>,
): fc.Arbitrary<RequestDraft> {
  const { body, needsKey, pathParameters } = operation;
  return fc.oneof(
    changed('hostile', good, HEADERS),
    changed('hostile', good, needsKey ? [...REPEATED, twice('Authorization')] : REPEATED),
    hostileHeaders(operation, good),
    hostileQueries(good),
    ...(pathParameters.length === 0 ? [] : [hostileIds(good)]),
    ...(pathParameters.length === 0 || !needsKey ? [] : [changed('hostile', good, [FOREIGN])]),
    ...(body === null ? [] : [changed('hostile', good, BODIES), hostileMembers(operation, good)]),
  );
}

/** Valid requests, each with a hostile text inserted. */
function withText(good: fc.Arbitrary<RequestDraft>, rule: string, put: PutText): fc.Arbitrary<RequestDraft> {
  return fc.tuple(good, hostileStrings, PICK).map(([draft, text, pick]): RequestDraft => (context) => {
    const request = draft(context);
    return { ...request, kind: 'hostile', rule, expected: null, ...put(request, text, pick) };
  });
}
type PutText = (request: EditableRequest, text: string, pick: number) => Partial<EditableRequest>;

const hostileMembers = ({ body }: Operation, good: fc.Arbitrary<RequestDraft>): fc.Arbitrary<RequestDraft> =>
  withText(good, 'a hostile text in a member', ({ value }, text, pick) => {
    const name = pickFrom(Object.keys(body?.schema.properties ?? { x: {} }), pick);
    const other = { ...(value as object), [name]: text };
    const json = JSON.stringify(other);
    // Raw control characters instead of their JSON escapes.
    return bytesOf(
      pick % 8 === 0
        ? json.replaceAll(/\\u00([01].)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
        : json,
    );
  });

/** A text as a header's value, without control characters: raw sockets send those. */
const headerText = (text: string): string =>
  utf8(text)
    .replaceAll(/[^\t -~\x80-\xff]/g, '')
    .slice(0, 6_000);

const hostileHeaders = (
  operation: Operation,
  good: fc.Arbitrary<RequestDraft>,
): fc.Arbitrary<RequestDraft> => {
  const names = [
    'Authorization',
    'Content-Type',
    'Content-Encoding',
    'Host',
    'X-Forwarded-For',
    'X-Request-Id',
    'Accept',
  ];
  const all = [...names, 'Traceparent', 'Upgrade', 'X-HTTP-Method-Override', 'Cookie', 'X-Hub-Signature-256'];
  const own = operation.headers.map(({ name }) => name);
  return withText(good, 'a hostile text in a header', ({ headers }, text, pick) => ({
    headers: withHeader(headers, pickFrom([...all, ...own, ...own], pick), headerText(text)),
  }));
};

/** A text as part of a path or query. What would end the request line is encoded. */
const targetText = (text: string, pick: number): string =>
  pick % 2 === 0
    ? percentEncoded(text).slice(0, 7_000)
    : text
        .replaceAll(/[^!-~]|[#?/]/gu, (character) =>
          [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
        )
        .slice(0, 7_000);

const hostileIds = (good: fc.Arbitrary<RequestDraft>): fc.Arbitrary<RequestDraft> =>
  withText(good, 'a hostile text as an id', ({ from, parameters, expected }, text, pick) => {
    const id = pickFrom(
      [text, '%', '%zz', '%ff', '%c0%af', '%00', newId().toUpperCase(), `${newId()}%00`],
      pick,
    );
    const shown = id === text ? targetText(text, pick) : id;
    const names = Object.keys(parameters);
    const target = pathOf(from.template, Object.fromEntries(names.map((name) => [name, shown])));
    return { target, expected: shown === '' ? [404] : expected === null ? null : REFUSED };
  });

const hostileQueries = (good: fc.Arbitrary<RequestDraft>): fc.Arbitrary<RequestDraft> =>
  withText(good, 'a hostile text as a query', ({ target, expected }, text, pick) => ({
    target: `${target}?${pick % 3 === 0 ? 'id=' : ''}${targetText(text, pick)}`,
    expected,
  }));

/** A repeated header that may occur only once. */
const twice = (name: string): Rule => ({
  name: `${name} twice`,
  change: ({ headers }, pick) => {
    const value = headers.find(([each]) => each === name)?.[1] ?? 'a';
    const second: Header = [pick % 2 === 0 ? name : name.toLowerCase(), pick % 3 === 0 ? 'b' : value];
    return { headers: [...withHeader(headers, name, value), second], expected: [400] };
  },
});
const REPEATED: Rule[] = ['Host', 'Content-Type', 'Idempotency-Key'].map(twice);

const HEADERS: Rule[] = [
  {
    name: 'a header of 8 KiB',
    change: ({ headers }, pick) => ({
      headers: [...headers, [pickFrom(['X', 'Cookie', 'Accept'], pick), 'a'.repeat(8_192)]],
      expected: [431],
    }),
  },
  {
    name: 'headers of about 8 KiB',
    change: ({ headers }, pick) => ({
      headers: [...headers, ['X', 'a'.repeat(7_200 + (pick % 1_000))]],
      expected: null,
    }),
  },
  {
    name: 'many headers',
    change: ({ headers }, pick) => ({
      headers: [
        ...headers,
        ...Array.from({ length: 100 + (pick % 900) }, (_, index): Header => [`a${index}`, '']),
      ],
    }),
  },
  {
    name: 'thousands of headers',
    change: ({ headers }) => ({
      headers: [...headers, ...Array.from({ length: 20_000 }, (): Header => ['a', 'b'])],
      expected: [431],
    }),
  },
];

/** An id of another account, which gets exactly the answer of an unknown id. */
const FOREIGN: Rule = {
  name: 'an id of another account',
  change: (request, pick, context) => {
    const at = (id: string): string =>
      pathOf(
        request.from.template,
        Object.fromEntries(Object.keys(request.parameters).map((name) => [name, id])),
      );
    const expected = request.from.statuses.includes(404) ? [404, 401] : null;
    const own = { ...request, bytes: Buffer.from(JSON.stringify(request.value) ?? ''), expected };
    const twin = {
      ...own,
      kind: 'hostile',
      rule: 'an unknown id',
      target: at(newId()),
      body: own.bytes,
    } as const;
    return { target: at(context.foreignId(request.caller, pick)), bytes: own.bytes, expected, twin };
  },
};

const json = ({ value }: EditableRequest): string => JSON.stringify(value);
const CODINGS: readonly [string, (body: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity, gzip', gzipSync],
];
const KIBIBYTES_64 = 65_536;

/** A body that every operation refuses. */
const refused = (
  name: string,
  change: (request: EditableRequest, pick: number) => string | Buffer,
): Rule => ({
  name: `a body ${name}`,
  change: (request, pick) => ({ ...bytesOf(change(request, pick)), expected: REFUSED }),
});

/** Inserts bytes into a body. */
const spliced = (body: string, pick: number, bytes: readonly number[]): Buffer => {
  const at = pick % (body.length + 1);
  return Buffer.concat([Buffer.from(body.slice(0, at)), Buffer.from(bytes), Buffer.from(body.slice(at))]);
};

const BODIES: Rule[] = [
  refused('of hostile JSON', (_request, pick) => pickFrom(HOSTILE_JSON, pick)),
  refused('with hostile JSON as a member', ({ from }, pick) => {
    const name = pickFrom(Object.keys(from.body?.schema.properties ?? { x: {} }), pick);
    return `{"${name}":${pickFrom(
      HOSTILE_JSON.filter((each) => !each.startsWith('"')),
      pick >> 4,
    )}}`;
  }),
  refused('with __proto__', (request) => json(request).replace(/^\{/, '{"__proto__":{"code":"0000"},')),
  refused('with constructor', (request) => json(request).replace(/^\{/, '{"constructor":{"prototype":{}},')),
  refused('that is not UTF-8', (request, pick) =>
    spliced(
      json(request),
      pick,
      pickFrom([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0x80]], pick),
    ),
  ),
  refused('in UTF-16', (request, pick) => {
    const text = Buffer.from(`${pick % 2 === 0 ? '\ufeff' : ''}${json(request)}`, 'utf16le');
    return pick % 3 === 0 ? text.swap16() : text;
  }),
  refused('behind a byte order mark', (request) => `\ufeff${json(request)}`),
  refused('with a NUL in it', (request, pick) => spliced(json(request), pick, [0])),
  refused('one byte over 64 KiB', (request, pick) =>
    json(request).padEnd(KIBIBYTES_64 + 1 + (pick % 3), ' '),
  ),
  refused('of random bytes', (_request, pick) =>
    Buffer.from(
      Array.from({ length: pick % 500 }, (_, index) => (pick * (index + 7) * 2_654_435_761) >>> 24),
    ),
  ),
  {
    name: 'a body of 64 KiB',
    change: (request, pick) => bytesOf(json(request).padEnd(KIBIBYTES_64 - (pick % 3), ' ')),
  },
  {
    name: 'an encoded body',
    change: (request, pick) => {
      const [coding, encode] = pickFrom(CODINGS, pick);
      return {
        headers: withHeader(request.headers, 'Content-Encoding', coding),
        ...bytesOf(encode(json(request))),
        expected: REFUSED,
      };
    },
  },
  {
    name: 'a plain body that says that it is encoded',
    change: (request, pick) => ({
      headers: withHeader(request.headers, 'Content-Encoding', pickFrom(['gzip', 'utf-8', ''], pick)),
      ...bytesOf(json(request)),
    }),
  },
  {
    name: 'chunks with extensions and trailers',
    change: (request, pick) => ({
      headers: withHeader(request.headers, 'Transfer-Encoding', 'chunked'),
      ...bytesOf(chunked(json(request), 1 + (pick % 20), pick % 2 === 0)),
    }),
  },
];

function chunked(text: string, size: number, extended: boolean): string {
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const lines = chunks.map(
    (chunk) => `${Buffer.byteLength(chunk).toString(16)}${extended ? ';a="b"' : ''}\r\n${chunk}\r\n`,
  );
  return `${lines.join('')}0\r\n${extended ? 'Authorization: x\r\nX: y\r\n' : ''}\r\n`;
}
