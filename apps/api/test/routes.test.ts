import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PROBLEMS } from '@onecode/domain';
import { buildCaller, RawConnection, type RawAnswer, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { contractAnswers, METHODS, testAnswerHeaders } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { APP_SECRET, bearer, startApi, type TestApi, useApi, VERIFY_TOKEN } from './testApi.js';

/** Responses that caches may store. */
const PUBLIC = new Set(['the contract', 'the documentation', 'the page of errors', 'an asset']);
/** Problems that need an outage, a slow client or a flood; other tests cover them. */
const ELSEWHERE = new Set(['internal_error', 'request_timeout', 'too_busy']);

const api = useApi();
let caller: TestCaller;
beforeAll(async () => {
  caller = await buildCaller(api.db.database, 'test');
});

/** Returns one response of every kind of the API. */
async function answersOf(of: TestApi): Promise<Map<string, RawAnswer>> {
  const contract = await contractAnswers(apiTarget(of));
  const get = (path: string, headers: [string, string][] = []) => rawRequest(of.port, 'GET', path, headers);
  const post = (headers: [string, string][], body: string) =>
    rawRequest(of.port, 'POST', '/webhooks/whatsapp', headers, body);
  const signed: [string, string] = [
    'X-Hub-Signature-256',
    `sha256=${createHmac('sha256', APP_SECRET).update('{}').digest('hex')}`,
  ];
  const token = encodeURIComponent(VERIFY_TOKEN);
  const broken = await RawConnection.open(of.port);
  broken.write('nonsense\r\n\r\n');
  return new Map(
    Object.entries({
      ...Object.fromEntries(contract),
      'broken HTTP': await broken.answer(),
      'huge headers': await get('/v1/signup-settings', [['X', 'x'.repeat(20_000)]]),
      'a handshake': await get(
        `/webhooks/whatsapp?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${token}`,
      ),
      'a wrong handshake': await get('/webhooks/whatsapp'),
      'a webhook': await post([signed], '{}'),
      'a webhook that is not signed': await post([], '{}'),
      'a webhook too large': await post([signed, ['Content-Length', '4000000']], '{'),
      'the liveness': await get('/livez'),
      'the readiness': await get('/readyz'),
      'the contract': await get('/openapi.json'),
      'the way to the documentation': await get('/docs'),
      'the documentation': await get('/docs/'),
      'the page of errors': await get('/docs/errors'),
      'an asset': await get('/docs/icon.svg'),
    }),
  );
}

testAnswerHeaders(
  () => answersOf(api),
  (name) => PUBLIC.has(name),
);

describe('the responses', () => {
  it('cover every problem, link its anchor on the errors page, and require HTTPS', async () => {
    const answers = await answersOf(api);
    const codes = new Set([...answers.values()].flatMap(({ json }) => json.code ?? []));
    expect(codes).toEqual(new Set(Object.keys(PROBLEMS).filter((code) => !ELSEWHERE.has(code))));
    const { text: page } = await api.request.get('/docs/errors').expect(200);
    for (const [name, { headers, json }] of answers) {
      expect([name, headers['strict-transport-security']]).toEqual([
        name,
        expect.stringMatching(/^max-age=\d{8}/),
      ]);
      if (json.code === undefined) continue;
      expect(json['type']).toBe(`${api.docsUrl}/errors#${json.code}`);
      expect(page).toContain(`id="${json.code}"`);
    }
  });

  it('do not require HTTPS if the base address does not use it', async () => {
    const plain = await startApi({ baseUrl: 'http://codes.test' });
    for (const [name, { headers }] of await answersOf(plain))
      expect([name, headers['strict-transport-security']]).toEqual([name, undefined]);
    await plain.close();
  });
});

describe('an unknown path', () => {
  it.each([
    '/webhooks',
    '/webhooks/whatsapp/',
    '/webhooks/other',
    '/livez/',
    '/metrics',
    '/openapi.yaml',
    '/docs/unknown',
    '/docs/unknown/',
  ])('is not_found with and without a key: %s', async (path) => {
    for (const method of path.startsWith('/docs') ? ['GET'] : ['GET', 'POST', 'DELETE']) {
      const headers = method === 'GET' ? [] : Object.entries(bearer(caller));
      const { json } = await rawRequest(api.port, method, path, headers);
      expect(json).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

describe.each([
  ['/webhooks/whatsapp', 'GET, HEAD, POST'],
  ['/livez', 'GET, HEAD'],
  ['/readyz', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/docs/', 'GET, HEAD'],
])('%s', (path, allow) => {
  it(`accepts ${allow}, and answers every other method with 405 and exactly these in Allow`, async () => {
    for (const method of METHODS) {
      // The methods that Node's parser knows depend on its version.
      const { status, headers, json } = await rawRequest(api.port, method, path);
      if (method === 'QUERY' && status === 400) continue;
      if (allow.split(', ').includes(method)) {
        expect([404, 405]).not.toContain(status);
        continue;
      }
      expect([method, status, headers['allow']]).toEqual([method, 405, allow]);
      if (method !== 'HEAD') expect(json.code).toBe('method_not_allowed');
    }
  });
});

it.each(['/livez', '/readyz'])(
  '%s returns ok while PostgreSQL is available, and answers HEAD without the body',
  async (path) => {
    const [get, head] = [await rawRequest(api.port, 'GET', path), await rawRequest(api.port, 'HEAD', path)];
    expect(get).toMatchObject({ status: 200, body: 'ok\n' });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  },
);

it.each([
  ['a range', { Range: 'bytes=0-1' }],
  ['a condition that does not hold', { 'If-Match': '"another"' }],
])('a request for a file returns the whole file despite %s', async (_, headers) => {
  const { status, body } = await api.request.get('/docs/icon.svg').set(headers);
  expect([status, String(body)]).toEqual([200, expect.stringContaining('</svg>')]);
});

const ERRORS_PAGE = readFileSync(new URL('../../docs/dist/errors.md', import.meta.url), 'utf8');

interface Shown {
  code: string;
  status: number;
  request: string;
  answer: object;
}

const [OF_API = '', OF_WEBHOOKS = ''] = ERRORS_PAGE.split(/^## .*webhooks$/m);

/** The examples on the page for each problem of the API: status, request and response. */
const SHOWN: Shown[] = OF_API.split(/^### /m)
  .slice(1)
  .map((section) => {
    const [, code, status] = /^(\w+) · (\d+)$/m.exec(section)!;
    const [, request] = /^```http\n([\s\S]*?)\n```$/m.exec(section)!;
    const [, answer] = /^```json\n([\s\S]*?)^```$/m.exec(section)!;
    return { code: code!, status: Number(status), request: request!, answer: JSON.parse(answer!) as object };
  });

/** Creates a caller with the state that causes the problem. */
async function callerFor(code: string, request: string): Promise<TestCaller> {
  const caller = await buildCaller(api.db.database, 'live', {
    ...(code === 'insufficient_credits' && { freeQuota: 0 }),
    ...(code === 'rate_limited' && { ratePerMinute: 1 }),
  });
  const key = /^Idempotency-Key: (.*)$/m.exec(request)?.[1];
  if (code === 'rate_limited') await api.create(caller).expect(202);
  if (code === 'idempotency_key_reused')
    await api.create(caller, undefined, { 'Idempotency-Key': key! }).expect(202);
  return caller;
}

/** Returns the bytes of a request, with the parts that the page omits: a key, the host, the body's length, the rest of a long header. */
function bytesOf(request: string, { key }: TestCaller): string {
  const [head = '', body = ''] = request.split('\n\n');
  const lines = head
    .replace('ak_live_…', key)
    .replace(/x… \((\d+) kB\)/, (_, kilobytes) => 'x'.repeat(Number(kilobytes) * 1_024))
    .split('\n');
  if (!head.includes('\nHost:')) lines.push('Host: codes.test');
  if (body !== '') lines.push(`Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

describe('the page of errors', () => {
  it('has every problem, and a request for each problem of the API', () => {
    const ofWebhooks = [...OF_WEBHOOKS.matchAll(/^### (\w+)/gm)].map(([, code]) => code!);
    expect(ofWebhooks).toHaveLength(4);
    expect([...SHOWN.map(({ code }) => code), ...ofWebhooks].toSorted()).toEqual(
      Object.keys(PROBLEMS).toSorted(),
    );
  });

  it.each(SHOWN.filter(({ code }) => !ELSEWHERE.has(code)))(
    'shows a request with its actual response: $code',
    async ({ code, status, request, answer }) => {
      const connection = await RawConnection.open(api.port);
      const got = await connection.write(bytesOf(request, await callerFor(code, request))).answer();
      connection.socket.destroy();
      expect([got.status, got.json.code]).toEqual([status, code]);
      // The details can be more specific than in the example, and the address is this service's.
      const shape = (problem: object) => ({ ...problem, type: '', detail: 'detail' in problem });
      expect(shape(got.json)).toEqual(shape(answer));
    },
  );
});
