import { STATUS_CODES } from 'node:http';
import { Problem, PROBLEMS, type ProblemCode } from '@onecode/domain';
import { openApiSource, validatorAt } from '@onecode/testing/contract';
import { PHONE } from '@onecode/testing/contract-tests';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { parseCreateSend, parseVerify } from '../src/contract.js';
import { openApiDocument } from '../src/docs.js';

const DIGITS = Array.from('0123456789');

/** Returns the result of a parser: its value, or the problem that it threw. Rethrows other errors. */
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

describe('parseCreateSend', () => {
  it.each([
    ['an empty code as none', `{"to":"${PHONE}","code":""}`, { code: null, locale: null }],
    ['ten digits', `{"to":"${PHONE}","code":"0123456789"}`, { code: '0123456789', locale: null }],
    ['white space around', ` \r\n\t{ "to" : "${PHONE}" }\n`, { code: null, locale: null }],
    ['escapes in names and values', '{"t\\u006f":"\\u002b5511987654321"}', { code: null, locale: null }],
  ])('accepts %s', (_name, body, expected) => {
    expect(outcome(parseCreateSend, body)).toEqual({
      recipient: { kind: 'phone', e164: PHONE, canonical: PHONE, country: 'BR', isPremiumRate: false },
      ...expected,
    });
  });

  it.each([
    ['+4477009', 'Is too short or too long for its country.'],
    ['+999123456789', 'Must start with + and an existing country code.'],
    ['5511987654321', 'Must be a phone number with + and country code.'],
  ])('reports the fault of the number %s', (to, message) => {
    const problem = outcome(parseCreateSend, JSON.stringify({ to }));
    expect(problem).toMatchObject({ code: 'invalid_recipient', details: { errors: { to: message } } });
  });

  it.each([
    ['["a"]', { detail: 'The body must be a JSON object.' }],
    [`{"to":"${PHONE}","chanel":"x"}`, { detail: 'The only documented fields are to, code, locale.' }],
    [
      '{"to":5511987654321,"code":1234}',
      {
        detail: 'Each field must be a string.',
        errors: { to: 'Must be a string.', code: 'Must be a string.' },
      },
    ],
  ])('reports the fault of the body %s', (body, details) => {
    expect(outcome(parseCreateSend, body)).toMatchObject({ code: 'invalid_json', details });
  });
});

describe('the parsers of request bodies', () => {
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

  it('return a value or throw a problem for any bytes', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        outcome(parseCreateSend, body);
        outcome(parseVerify, body);
      }),
      { numRuns: 3000 },
    );
  });

  it('reject an object with a repeated member', () => {
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

  it('accept exactly the codes of 4 to 10 digits, unchanged', () => {
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

  it('never repeat the client’s input in a problem', () => {
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
          const { message, details, cause } = outcome(parseCreateSend, body) as Problem;
          const texts = JSON.stringify({ message, details, cause });
          expect(texts).not.toContain(one);
          expect(texts).not.toContain(two);
        }
      }),
    );
  });
});

const document = openApiDocument('https://codes.test') as any;

/** The responses of each operation: section 4 of the specification. */
const CREDENTIALS = ['401 missing_credentials', '401 invalid_api_key'];
const OPERATIONS = [
  {
    id: 'createSend',
    method: 'post',
    path: '/v1/send',
    success: '202',
    errors: [
      ...CREDENTIALS,
      '402 insufficient_credits',
      '409 idempotency_key_reused',
      '422 invalid_json',
      '422 invalid_recipient',
      '422 invalid_code',
      '422 invalid_locale',
      '422 invalid_idempotency_key',
      '422 channel_unavailable',
      '429 rate_limited',
      '500 internal_error',
    ],
  },
  {
    id: 'getSendStatus',
    method: 'get',
    path: '/v1/send/{id}/status',
    success: '200',
    errors: [...CREDENTIALS, '404 send_not_found', '500 internal_error'],
  },
  {
    id: 'verifyCode',
    method: 'post',
    path: '/v1/send/{id}/verify',
    success: '200',
    errors: [...CREDENTIALS, '404 send_not_found', '422 invalid_json', '500 internal_error'],
  },
  {
    id: 'getSignupSettings',
    method: 'get',
    path: '/v1/signup-settings',
    success: '200',
    errors: ['500 internal_error'],
  },
];
/** Problems before an operation is reached, which the specification does not define. */
const TRANSPORT = ['400 bad_request', '408 request_timeout', '431 headers_too_large'];

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Follows a `$ref`. @returns the node with its pointer */
function resolve(pointer: string): { pointer: string; node: any } {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const node = keys.reduce((value, key) => value[key], document);
  return typeof node.$ref === 'string' ? resolve(node.$ref.slice(1)) : { pointer, node };
}

/** Returns every media type object of the document: request and response bodies, with references resolved. */
function contents(): { pointer: string; node: any; name: string }[] {
  return OPERATIONS.flatMap(({ id, method, path }) => {
    const operation = `/paths/${escaped(path)}/${method}`;
    const { requestBody, responses } = resolve(operation).node;
    const bodies = Object.keys(responses).map((status) => ({
      at: `${operation}/responses/${status}`,
      name: `${id} ${status}`,
    }));
    if (requestBody !== undefined) bodies.push({ at: `${operation}/requestBody`, name: `${id} request` });
    return bodies.flatMap(({ at, name }) => {
      const { pointer, node } = resolve(at);
      return Object.keys(node.content).map((type) => {
        const found = resolve(`${pointer}/content/${escaped(type)}`);
        return { ...found, name: `${name} ${type}` };
      });
    });
  });
}

describe('openapi.yaml', () => {
  it('is a valid OpenAPI 3.1 document, version 1.0.0, with the given address as its server', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(document.info.version).toBe('1.0.0');
    expect(document.servers).toEqual([{ url: 'https://codes.test' }]);
  });

  it('is served unchanged, except for the server’s address', () => {
    const served = openApiDocument('https://api.example.com');
    expect(served).toEqual({ ...openApiSource, servers: [{ url: 'https://api.example.com' }] });
  });

  it('has exactly the four operations', () => {
    const found = Object.entries<any>(document.paths).flatMap(([path, node]) =>
      Object.entries<any>(node).map(([method, operation]) => ({ id: operation.operationId, method, path })),
    );
    expect(found).toEqual(OPERATIONS.map(({ id, method, path }) => ({ id, method, path })));
  });

  it.each(OPERATIONS)(
    'documents for $id exactly the responses of the specification and of the transport',
    (operation) => {
      const base = `/paths/${escaped(operation.path)}/${operation.method}/responses`;
      const statuses = Object.keys(resolve(base).node);
      const errors = statuses
        .filter((status) => status !== operation.success)
        .flatMap((status) => {
          const { node } = resolve(`${base}/${status}`);
          const media = node.content['application/problem+json'];
          expect(media.schema).toEqual({ $ref: '#/components/schemas/Problem' });
          return Object.entries<any>(media.examples).map(([code, { value }]) => {
            expect(value).toMatchObject({ code, status: Number(status) });
            return `${status} ${code}`;
          });
        });
      expect(statuses).toContain(operation.success);
      const expected = [...operation.errors, ...TRANSPORT];
      expect(errors).toHaveLength(expected.length);
      expect(new Set(errors)).toEqual(new Set(expected));
    },
  );

  it('lists every problem code, and each has the status of the specification', () => {
    expect(document.components.schemas.ProblemCode.anyOf[0].enum).toEqual(Object.keys(PROBLEMS));
    for (const line of [...OPERATIONS.flatMap(({ errors }) => errors), ...TRANSPORT]) {
      const [status, code] = line.split(' ') as [string, ProblemCode];
      expect(PROBLEMS[code].status).toBe(Number(status));
    }
  });

  it.each(contents())('has only valid examples of $name', ({ pointer, node }) => {
    const validate = validatorAt(`${pointer}/schema`);
    expect(Object.keys(node.examples)).not.toHaveLength(0);
    for (const { value } of Object.values<any>(node.examples)) {
      validate(value);
      expect(validate.errors ?? []).toEqual([]);
    }
  });

  /** Problems with a detail about the exact fault, also in the examples. */
  const WITH_CAUSE = new Set(['bad_request', 'invalid_json', 'invalid_idempotency_key']);

  it('gives each problem example the title of its status, and a type under the documentation address', () => {
    const problems = contents().filter(({ name }) => name.endsWith('problem+json'));
    for (const { node } of problems)
      for (const { value } of Object.values<any>(node.examples)) {
        expect(value.title).toBe(STATUS_CODES[value.status]);
        expect(value.type).toBe(`https://codes.test/docs/errors#${value.code}`);
        if (!WITH_CAUSE.has(value.code))
          expect(value.detail).toBe(PROBLEMS[value.code as ProblemCode].meaning);
      }
    expect(JSON.stringify(document)).not.toContain('api.example.com');
  });

  it.each([
    ['Send', 14],
    ['VerifyResult', 3],
    ['SignupSettings', 1],
  ])('requires all fields of %s (%i), and allows additional ones', (name, count) => {
    const schema = document.components.schemas[name];
    expect(Object.keys(schema.properties)).toHaveLength(count);
    expect(schema.required).toEqual(Object.keys(schema.properties));
    expect(schema.additionalProperties).toBeUndefined();
  });

  it('requires a key for every operation except the sign-up settings', () => {
    expect(document.security).toEqual([{ bearer: [] }]);
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    for (const { id, method, path } of OPERATIONS)
      expect(document.paths[path][method].security).toEqual(id === 'getSignupSettings' ? [] : undefined);
  });

  it.each(contents().filter(({ name }) => !name.includes('request')))(
    'documents the headers of $name',
    ({ name, pointer }) => {
      const { headers } = resolve(pointer.replace(/\/content\/.*$/, '')).node;
      const status = name.split(' ')[1] ?? '';
      expect(headers['X-Request-Id']).toBeDefined();
      expect('WWW-Authenticate' in headers).toBe(status === '401');
      expect('Retry-After' in headers).toBe(status === '429');
      expect('Cache-Control' in headers).toBe(!TRANSPORT.some((line) => line.startsWith(status)));
    },
  );
});
