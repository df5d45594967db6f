import type { RequestListener } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { checkResponse, contractAgent, openApiSource, type ApiResponse } from '@onecode/testing/contract';

const examplesOf = (path: string, method: string, status: number): any[] =>
  Object.values<any>(
    (openApiSource as any).paths[path][method].responses[status].content['application/json'].examples,
  ).map(({ value }) => value);
const HEADERS = { 'content-type': 'application/json', 'x-request-id': 'r1', 'cache-control': 'no-store' };
const [queued] = examplesOf('/v1/send', 'post', 202);

const created: ApiResponse = {
  method: 'POST',
  path: '/v1/send',
  status: 202,
  headers: HEADERS,
  body: queued,
};
const read: ApiResponse = { ...created, method: 'GET', path: '/v1/send/a-b/status', status: 200 };
const verified: ApiResponse = {
  ...created,
  path: '/v1/send/%00/verify?x=1',
  status: 200,
  body: { valid: true, verification: 'verified', attempts_left: 0 },
};
function problem(code: ProblemCode, to: Partial<ApiResponse> = {}): ApiResponse {
  const { status, meaning } = PROBLEMS[code];
  const headers = {
    ...HEADERS,
    'content-type': 'application/problem+json',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(status === 405 && { allow: 'POST' }),
    ...(status === 429 && { 'retry-after': '17' }),
  };
  const type = `https://x.test/errors#${code}`;
  const body = { type, title: STATUS_CODES[status], status, code, detail: meaning };
  return { method: 'POST', path: '/v1/send', status, headers, body, ...to };
}

/** Returns the response with some headers or members changed, or removed if the value is undefined. */
const withHeaders = (response: ApiResponse, headers: Record<string, string | undefined>): ApiResponse => ({
  ...response,
  headers: { ...(response.headers as Record<string, string>), ...headers },
});
const withBody = (response: ApiResponse, change: object): ApiResponse => ({
  ...response,
  body: JSON.stringify({ ...(response.body as object), ...change }),
});
const unknown = problem('not_found', { path: '/' });

describe('checkResponse with a valid response', () => {
  it.each<[string, ApiResponse]>([
    ['a new send', created],
    ['headers of fetch', { ...created, headers: new Headers(HEADERS) }],
    ['the head of a status', { ...read, method: 'HEAD', body: '' }],
    ['a verification with an unusual id', verified],
    ['a refused credential', problem('missing_credentials')],
    ['an unknown route', problem('not_found', { path: '/v1/sends' })],
    ['a wrong method', problem('method_not_allowed', { method: 'DELETE' })],
    ['an accepted webhook', { ...created, path: '/webhooks/whatsapp', status: 200, body: '' }],
    ['a refused webhook', problem('invalid_signature', { path: '/webhooks/whatsapp' })],
    ['a probe', { ...read, path: '/readyz', status: 503, body: { ready: false } }],
    ...examplesOf('/v1/send/{id}/status', 'get', 200).map((body): [string, ApiResponse] => [
      `the documented send that is ${body.status} and ${body.verification}`,
      { ...read, body },
    ]),
  ])('accepts %s', (_name, response) => {
    expect(() => checkResponse(response)).not.toThrow();
  });
});

describe('checkResponse with an invalid response', () => {
  it.each<[string, ApiResponse, string | RegExp]>([
    ['no request id', withHeaders(created, { 'x-request-id': undefined }), 'X-Request-Id is missing'],
    ['a cached answer', withHeaders(read, { 'cache-control': 'public' }), 'Cache-Control is "public"'],
    [
      '429 without a wait',
      withHeaders(problem('rate_limited'), { 'retry-after': undefined }),
      'Retry-After is missing',
    ],
    [
      '405 without Allow',
      withHeaders(problem('method_not_allowed', { method: 'PUT' }), { allow: undefined }),
      'Allow is missing',
    ],
    ['a status that is not documented', { ...created, status: 201 }, 'status 201 is not documented'],
    ['an additional field', withBody(created, { code: '004217' }), 'additional'],
    ['a problem with an empty detail', withBody(problem('invalid_code'), { detail: '' }), 'no detail'],
    ['attempts after success', withBody(verified, { attempts_left: 1 }), 'wrong state'],
    [
      'failure without a reason',
      withBody(created, { status: 'failed', failed_at: queued.created_at }),
      'failure_reason',
    ],
    ['verified without a time', withBody(created, { verification: 'verified' }), 'verified_at'],
    ['a test send over WhatsApp', withBody(created, { mode: 'test', channel: 'whatsapp' }), 'test send'],
    ['a deadline before creation', withBody(created, { expires_at: '2020-01-01T00:00:00Z' }), 'expires_at'],
    [
      'a code of another operation',
      withBody(problem('invalid_json', { path: verified.path }), { code: 'invalid_code' }),
      'code is invalid_code',
    ],
    ['another status in the body', withBody(unknown, { status: 400 }), 'the body says status 400'],
    [
      'a code of another status',
      withBody(problem('not_found', { path: '/webhooks/whatsapp' }), { code: 'forbidden' }),
      'belongs to 403',
    ],
    ['a type with another code', withBody(unknown, { type: 'https://x.test/errors#forbidden' }), 'type'],
    ['a success with a wrong method', { ...created, method: 'PUT' }, 'Content-Type'],
  ])('throws for %s', (_name, response, fault) => {
    expect(() => checkResponse(response)).toThrow(fault);
  });
});

it('contractAgent accepts valid responses, and rejects invalid ones', async () => {
  const server: RequestListener = (request, reply) => {
    const { status, headers, body } = request.url === '/v1/send' ? created : verified;
    reply.writeHead(status, headers as Record<string, string>).end(JSON.stringify(body));
  };
  const agent = contractAgent(server);
  const { body } = await agent.post('/v1/send').send({ to: 'x' }).expect(202);
  expect(body).toEqual(queued);
  await expect(agent.post('/v1/send').expect(200)).rejects.toThrow('expected 200');
  await agent.post('/v1/send/%ff/verify');
  await expect(agent.get('/v1/signup-settings')).rejects.toThrow(/GET \/v1\/signup-settings answered 200/);
});
