import { Problem, type ProblemCode } from '@onecode/domain';
import { FAULTY_FIELDS, NO_GUESSES, NO_JSON, PHONE, WRONG_MEMBERS } from '@onecode/testing/contract-tests';
import fc from 'fast-check';
import { parseCreateSend, parseVerify } from '../src/contract.js';

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

  it.each([...NO_JSON, ...WRONG_MEMBERS])('is invalid_json: %s', (_name, body) => {
    expect(codeOf(parseCreateSend, body)).toBe('invalid_json');
  });

  it('is invalid_json with a thousand unknown members', () => {
    const members = Array.from({ length: 1000 }, (_, index) => `"member${index}":""`);
    expect(codeOf(parseCreateSend, `{${members.join(',')}}`)).toBe('invalid_json');
  });

  it.each(FAULTY_FIELDS)(
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

  it.each(NO_GUESSES)('is invalid_json with %s', (_name, body) => {
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
