import { Problem, type ProblemCode } from '@onecode/domain';
import fc from 'fast-check';
import { parseCreateSend, parseVerify } from '../src/contract.js';

const PHONE = '+5511987654321';
const DIGITS = Array.from('0123456789');

/** The result of a parser for some bytes: its value, or the problem that it threw. Rethrows everything else. */
function outcome<T>(parse: (body: Buffer) => T, body: Buffer | string): T | Problem {
  try {
    return parse(Buffer.from(body as string));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function codeOf(parse: (body: Buffer) => unknown, body: Buffer | string): ProblemCode | 'accepted' {
  const result = outcome(parse, body);
  return result instanceof Problem ? result.code : 'accepted';
}

function bytes(...parts: (string | number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

describe('the body of a new send', () => {
  it.each([
    ['the recipient alone', `{"to":"${PHONE}"}`, { code: null, locale: null }],
    ['an empty code as none', `{"to":"${PHONE}","code":""}`, { code: null, locale: null }],
    ['leading zeros', `{"to":"${PHONE}","code":"0042"}`, { code: '0042', locale: null }],
    ['ten digits', `{"to":"${PHONE}","code":"0123456789"}`, { code: '0123456789', locale: null }],
    ['pt-BR', `{"to":"${PHONE}","locale":"pt-BR"}`, { code: null, locale: 'pt-BR' }],
    ['en', `{"locale":"en","to":"${PHONE}"}`, { code: null, locale: 'en' }],
    ['white space around', ` \r\n\t{ "to" : "${PHONE}" }\n`, { code: null, locale: null }],
    ['escapes in names and values', '{"t\\u006f":"\\u002b5511987654321"}', { code: null, locale: null }],
    ['spaces, hyphens and brackets', '{"to":"+55 (11) 98765-4321"}', { code: null, locale: null }],
  ])('is accepted with %s', (_name, body, expected) => {
    expect(outcome(parseCreateSend, body)).toEqual({
      recipient: { kind: 'phone', e164: PHONE, canonical: PHONE, country: 'BR', isCostly: false },
      ...expected,
    });
  });

  const notJson: [string, Buffer | string][] = [
    ['nothing', ''],
    ['white space', ' \n'],
    ['text', 'to=+5511987654321'],
    ['a cut-off object', `{"to":"${PHONE}"`],
    ['something after the object', `{"to":"${PHONE}"}x`],
    ['a second object', `{"to":"${PHONE}"}{}`],
    ['a comment', `{"to":"${PHONE}"/**/}`],
    ['a comma at the end', `{"to":"${PHONE}",}`],
    ['single quotes', `{'to':'${PHONE}'}`],
    ['a raw line break in a string', `{"to":"${PHONE}\n"}`],
    ['a NUL after the object', bytes(`{"to":"${PHONE}"}`, [0])],
    ['a byte order mark', bytes([0xef, 0xbb, 0xbf], `{"to":"${PHONE}"}`)],
    ['UTF-16', Buffer.from(`{"to":"${PHONE}"}`, 'utf16le')],
    ['UTF-16 with its mark', bytes([0xff, 0xfe], [...Buffer.from(`{"to":"${PHONE}"}`, 'utf16le')])],
    ['an invalid byte', bytes(`{"to":"${PHONE}","code":"`, [0xff], '"}')],
    ['an overlong form', bytes(`{"to":"`, [0xc0, 0xab], '5511987654321"}')],
    ['a surrogate in UTF-8', bytes(`{"to":"`, [0xed, 0xa0, 0x80], '"}')],
    ['a cut-off letter', bytes(`{"to":"`, [0xc3], '"}')],
    ['compressed bytes', bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])],
    ['null', 'null'],
    ['true', 'true'],
    ['a string', `"${PHONE}"`],
    ['a number', '1'],
    ['a number beyond any other', `1${'0'.repeat(60_000)}`],
    ['a huge exponent', '{"to":1e999999}'],
    ['an empty array', '[]'],
    ['an array of an object', `[{"to":"${PHONE}"}]`],
    ['a nesting of 30,000 arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['a nesting of 30,000 arrays left open', '['.repeat(30_000)],
    ['a nesting inside a member', `{"to":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['a nesting of objects', `${'{"to":'.repeat(10_000)}""${'}'.repeat(10_000)}`],
  ];
  const wrongMembers: [string, string][] = [
    ['channel', `{"to":"${PHONE}","channel":"whatsapp"}`],
    ['from', `{"to":"${PHONE}","from":"+12025550143"}`],
    ['mode', `{"to":"${PHONE}","mode":"live"}`],
    ['an empty name', `{"to":"${PHONE}","":""}`],
    ['a name in capitals', `{"To":"${PHONE}"}`],
    ['__proto__', `{"to":"${PHONE}","__proto__":{"code":"1234"}}`],
    ['__proto__ with the only recipient', `{"__proto__":{"to":"${PHONE}"}}`],
    ['constructor', `{"to":"${PHONE}","constructor":"x"}`],
    ['toString', `{"to":"${PHONE}","toString":"x"}`],
    ['to as null', '{"to":null}'],
    ['to as a number', '{"to":5511987654321}'],
    ['to as an array', `{"to":["${PHONE}"]}`],
    ['code as a number', `{"to":"${PHONE}","code":1234}`],
    ['code as null', `{"to":"${PHONE}","code":null}`],
    ['code as an object', `{"to":"${PHONE}","code":{}}`],
    ['locale as null', `{"to":"${PHONE}","locale":null}`],
    ['locale as an array', `{"to":"${PHONE}","locale":["en"]}`],
    ['to twice', `{"to":"${PHONE}","to":"${PHONE}"}`],
    ['to twice, once escaped', `{"to":"${PHONE}","t\\u006f":"${PHONE}"}`],
    ['to twice, first as a number', `{"to":1,"to":"${PHONE}"}`],
    ['to twice, first as an object', `{"to":{"to":"x"},"to":"${PHONE}"}`],
    ['code twice among others', `{"code":"1234","to":"${PHONE}","code":"1234","locale":"en"}`],
    ['a quote in a value that hides a repeat', `{"to":"\\"","to":"${PHONE}"}`],
  ];
  it.each([...notJson, ...wrongMembers])('is invalid_json: %s', (_name, body) => {
    expect(codeOf(parseCreateSend, body)).toBe('invalid_json');
  });

  it('is invalid_json with a thousand unknown members', () => {
    const members = Array.from({ length: 1000 }, (_, index) => `"member${index}":""`);
    expect(codeOf(parseCreateSend, `{${members.join(',')}}`)).toBe('invalid_json');
  });

  it.each([
    ['{}', 'invalid_recipient'],
    ['{"to":""}', 'invalid_recipient'],
    ['{"to":"5511987654321"}', 'invalid_recipient'],
    ['{"to":"\\ud800"}', 'invalid_recipient'],
    ['{"to":"+551198765\\u00004321"}', 'invalid_recipient'],
    ['{"code":"1234"}', 'invalid_recipient'],
    ['{"to":"someone@example.com"}', 'channel_unavailable'],
    ['{"to":"+5511987654321@example.com"}', 'channel_unavailable'],
    [`{"to":"${PHONE}","code":"123"}`, 'invalid_code'],
    [`{"to":"${PHONE}","code":"12345678901"}`, 'invalid_code'],
    [`{"to":"${PHONE}","code":"12a4"}`, 'invalid_code'],
    [`{"to":"${PHONE}","code":" 1234"}`, 'invalid_code'],
    [`{"to":"${PHONE}","code":"1234\\n"}`, 'invalid_code'],
    [`{"to":"${PHONE}","code":"١٢٣٤"}`, 'invalid_code'],
    [`{"to":"${PHONE}","locale":""}`, 'invalid_locale'],
    [`{"to":"${PHONE}","locale":"EN"}`, 'invalid_locale'],
    [`{"to":"${PHONE}","locale":"pt_BR"}`, 'invalid_locale'],
  ])('%s is %s', (body, code) => {
    expect(codeOf(parseCreateSend, body)).toBe(code);
  });

  it.each([
    ['{"to":"x","code":"1","locale":"y"}', 'invalid_recipient', ['to', 'code', 'locale']],
    ['{"locale":"y","code":"1"}', 'invalid_recipient', ['to', 'code', 'locale']],
    ['{"locale":"y","code":"1","to":"a@example.com"}', 'channel_unavailable', ['to', 'code', 'locale']],
    [`{"locale":"y","code":"1","to":"${PHONE}"}`, 'invalid_code', ['code', 'locale']],
    [`{"locale":"y","to":"${PHONE}"}`, 'invalid_locale', ['locale']],
    ['{"locale":"y","code":"1","to":"x","more":""}', 'invalid_json', undefined],
    ['{"locale":"y","code":1,"to":"x"}', 'invalid_json', undefined],
  ])(
    '%s is %s: structure first, then to, code, locale, and every faulty field is named',
    (body, code, fields) => {
      const problem = outcome(parseCreateSend, body) as Problem;
      expect(problem.code).toBe(code);
      expect(problem.errors && Object.keys(problem.errors)).toEqual(fields);
    },
  );
});

describe('the body of a verification', () => {
  it.each(['004217', '', 'abc', ' 1234', 'é'.repeat(1000)])(
    'is accepted with any string as code: "%s"',
    (code) => {
      expect(parseVerify(Buffer.from(JSON.stringify({ code })))).toEqual({ code });
    },
  );

  it.each([
    ['no code', '{}'],
    ['code as a number', '{"code":4217}'],
    ['code as null', '{"code":null}'],
    ['an unknown member', '{"code":"004217","to":"x"}'],
    ['__proto__', '{"code":"004217","__proto__":null}'],
    ['a repeated code', '{"code":"004217","code":"004217"}'],
    ['an array', '["004217"]'],
    ['nothing', ''],
    ['invalid UTF-8', bytes('{"code":"', [0x80], '"}')],
    ['a deep nesting', `{"code":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('is invalid_json with %s', (_name, body) => {
    expect(codeOf(parseVerify, body)).toBe('invalid_json');
  });
});

describe('whatever the bytes', () => {
  const members = fc.constantFrom('to', 'code', 'locale', '__proto__', 'constructor', 'channel', 'to ', '');
  const values = fc.oneof(
    fc.constantFrom(PHONE, '', 'en', '1234', 'a@example.com', '"', '\\'),
    fc.string({ unit: 'binary' }),
    fc.jsonValue(),
  );
  const objectText = fc
    .array(fc.tuple(members, values), { maxLength: 5 })
    .map((pairs) => `{${pairs.map((pair) => pair.map((part) => JSON.stringify(part)).join(':')).join(',')}}`);
  const anyBody = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    objectText.map((text) => Buffer.from(text)),
  );

  it('a parser returns a value or throws a problem, and nothing else', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        outcome(parseCreateSend, body);
        outcome(parseVerify, body);
      }),
      { numRuns: 3000 },
    );
  });

  it('an object with a repeated member is never accepted', () => {
    const repeated = fc
      .tuple(fc.constantFrom('to', 'code', 'locale'), values, values)
      .map(([name, first, second]) => {
        const pair = (value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const rest = name === 'to' ? '' : `"to":"${PHONE}",`;
        return `{${rest}${pair(first)},${pair(second)}}`;
      });
    fc.assert(
      fc.property(repeated, (body) => {
        expect(codeOf(parseCreateSend, body)).toBe('invalid_json');
      }),
    );
  });

  it('a code of 4 to 10 digits comes through unchanged, and nothing else does', () => {
    const codes = fc.oneof(
      fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    );
    fc.assert(
      fc.property(codes, (code) => {
        const result = outcome(parseCreateSend, JSON.stringify({ to: PHONE, code }));
        const right =
          code.length >= 4 && code.length <= 10 && Array.from(code).every((digit) => DIGITS.includes(digit));
        expect(result.code).toBe(right ? code : 'invalid_code');
      }),
    );
  });

  it('no text of a problem repeats what the client sent', () => {
    const secretText = fc.string({
      unit: fc.constantFrom('q', 'w', 'x', 'z', '7', '3', '9'),
      minLength: 8,
      maxLength: 20,
    });
    fc.assert(
      fc.property(secretText, secretText, (one, two) => {
        for (const body of [
          JSON.stringify({ to: one, code: two, locale: one }),
          JSON.stringify({ to: PHONE, [one]: two }),
          JSON.stringify({ to: [one] }),
          `{"to":"${one}`,
          one,
        ]) {
          const { message, detail, errors, cause } = outcome(parseCreateSend, body) as Problem;
          const told = JSON.stringify({ message, detail, errors, cause });
          expect(told).not.toContain(one);
          expect(told).not.toContain(two);
        }
      }),
    );
  });
});
