import { createServer, type RequestListener } from 'node:http';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { checkResponse, contractAgent, type ApiResponse } from '@onecode/testing/contract';
import { openApiDocument } from '../src/contract.js';

const document = openApiDocument('https://codes.test') as any;
const examplesOf = (path: string, method: string, status: number): any[] =>
  Object.values<any>(document.paths[path][method].responses[status].content['application/json'].examples).map(
    ({ value }) => value,
  );
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'r1',
  'cache-control': 'no-store',
};
const [queued] = examplesOf('/v1/send', 'post', 202);

const created: ApiResponse = {
  method: 'POST',
  path: '/v1/send',
  status: 202,
  headers: HEADERS,
  body: queued,
};
const status: ApiResponse = {
  method: 'GET',
  path: '/v1/send/a-b/status',
  status: 200,
  headers: HEADERS,
  body: queued,
};
const verified: ApiResponse = {
  method: 'POST',
  path: '/v1/send/%00/verify?x=1',
  status: 200,
  headers: HEADERS,
  body: { valid: true, verification: 'verified', attempts_left: 0 },
};

function problem(code: ProblemCode, to: Partial<ApiResponse> = {}): ApiResponse {
  const { status: httpStatus, meaning } = PROBLEMS[code];
  const titles: Record<number, string> = {
    401: 'Unauthorized',
    404: 'Not Found',
    405: 'Method Not Allowed',
    422: 'Unprocessable Entity',
    429: 'Too Many Requests',
    400: 'Bad Request',
  };
  return {
    method: 'POST',
    path: '/v1/send',
    status: httpStatus,
    headers: {
      ...HEADERS,
      'content-type': 'application/problem+json',
      ...(httpStatus === 401 && { 'www-authenticate': 'Bearer' }),
      ...(httpStatus === 405 && { allow: 'POST' }),
      ...(httpStatus === 429 && { 'retry-after': '17' }),
    },
    body: {
      type: `https://x.test/errors#${code}`,
      title: titles[httpStatus],
      status: httpStatus,
      code,
      detail: meaning,
    },
    ...to,
  };
}

/** The same answer with some headers changed, or left out where the value is undefined. */
const withHeaders = (response: ApiResponse, headers: Record<string, string | undefined>): ApiResponse => ({
  ...response,
  headers: { ...(response.headers as Record<string, string>), ...headers },
});
const withBody = (response: ApiResponse, change: object): ApiResponse => ({
  ...response,
  body: JSON.stringify({ ...(response.body as object), ...change }),
});

describe('an answer that keeps the contract passes', () => {
  it.each<[string, ApiResponse]>([
    ['a new send', created],
    ['a body as text', withBody(created, {})],
    ['headers of fetch', { ...created, headers: new Headers(HEADERS) }],
    ['a status', status],
    ['the head of a status', { ...status, method: 'HEAD', body: '' }],
    ['a verification under a strange id', verified],
    ['a refused credential', problem('missing_credentials')],
    ['a faulty field', withBody(problem('invalid_code'), { errors: { code: 'x' } })],
    ['a limit', problem('rate_limited')],
    ['broken HTTP', problem('bad_request')],
    ['an unknown route', problem('not_found', { path: '/v1/sends' })],
    ['a wrong method', problem('method_not_allowed', { method: 'DELETE' })],
    ['a webhook that was taken', { ...created, path: '/webhooks/whatsapp', status: 200, body: '' }],
    ['a webhook that was refused', problem('invalid_signature', { path: '/webhooks/whatsapp' })],
    ['a probe', { ...status, path: '/readyz', status: 503, body: { ready: false } }],
  ])('%s', (_name, response) => {
    expect(() => checkResponse(response)).not.toThrow();
  });

  it.each([...examplesOf('/v1/send', 'post', 202), ...examplesOf('/v1/send/{id}/status', 'get', 200)])(
    'the documented send that is $status and $verification',
    (body) => {
      expect(() => checkResponse({ ...status, body })).not.toThrow();
    },
  );
});

describe('an answer that breaks the contract is named with its fault', () => {
  it.each<[string, ApiResponse, string | RegExp]>([
    ['no request id', withHeaders(created, { 'x-request-id': undefined }), 'X-Request-Id is missing'],
    [
      'no request id on an unknown route',
      withHeaders(problem('not_found', { path: '/' }), { 'x-request-id': '' }),
      'X-Request-Id',
    ],
    ['no no-store', withHeaders(created, { 'cache-control': undefined }), 'Cache-Control is missing'],
    ['a cached answer', withHeaders(status, { 'cache-control': 'public' }), 'Cache-Control is "public"'],
    [
      '401 without its header',
      withHeaders(problem('invalid_api_key'), { 'www-authenticate': undefined }),
      'WWW-Authenticate',
    ],
    [
      '401 with another scheme',
      withHeaders(problem('invalid_api_key'), { 'www-authenticate': 'Basic' }),
      'WWW-Authenticate',
    ],
    [
      '429 without a wait',
      withHeaders(problem('rate_limited'), { 'retry-after': undefined }),
      'Retry-After is missing',
    ],
    [
      'a wait of half a second',
      withHeaders(problem('rate_limited'), { 'retry-after': '0.5' }),
      'Retry-After is "0.5"',
    ],
    ['a wait of nothing', withHeaders(problem('rate_limited'), { 'retry-after': '0' }), 'Retry-After is "0"'],
    [
      'a wait until a date',
      withHeaders(problem('rate_limited'), { 'retry-after': 'Mon, 02 Mar 2026 14:05:09 GMT' }),
      'Retry-After',
    ],
    [
      '405 without Allow',
      withHeaders(problem('method_not_allowed', { method: 'PUT' }), { allow: undefined }),
      'Allow is missing',
    ],
    [
      'a problem as plain JSON',
      withHeaders(problem('invalid_json'), { 'content-type': 'application/json' }),
      'Content-Type',
    ],
    [
      'a send as a problem',
      withHeaders(created, { 'content-type': 'application/problem+json' }),
      'Content-Type',
    ],
    [
      'HTML',
      withHeaders({ ...created, body: '<html>' }, { 'content-type': 'text/html' }),
      /Content-Type.*\n.*body/,
    ],
    ['a status that is not documented', { ...created, status: 201 }, 'status 201 is not documented'],
    ['200 for a creation', { ...created, status: 200 }, 'status 200 is not documented'],
    ['404 for a creation', problem('send_not_found'), 'status 404 is not documented'],
    [
      '429 for a status',
      problem('rate_limited', { path: status.path, method: 'GET' }),
      'status 429 is not documented',
    ],
    ['a missing field', withBody(created, { read_at: undefined }), 'read_at'],
    ['a field too many', withBody(created, { code: '004217' }), 'additional'],
    ['an unknown state', withBody(created, { status: 'lost' }), '/status'],
    ['a time that is none', withBody(created, { created_at: 'yesterday' }), '/created_at'],
    ['an empty body', { ...created, body: '' }, 'must be object'],
    ['a problem that says nothing', withBody(problem('invalid_code'), { detail: undefined }), 'no detail'],
    ['a problem with an empty detail', withBody(problem('invalid_code'), { detail: '' }), 'no detail'],
    ['six attempts', withBody(verified, { attempts_left: 6 }), '/attempts_left'],
    ['attempts after success', withBody(verified, { attempts_left: 1 }), 'wrong state'],
    [
      'success while pending',
      withBody(verified, { verification: 'pending', attempts_left: 4 }),
      'wrong state',
    ],
    [
      'attempts while locked',
      withBody(verified, { valid: false, verification: 'locked', attempts_left: 1 }),
      'attempts_left',
    ],
    ['none while pending', withBody(verified, { valid: false, verification: 'pending' }), 'attempts_left'],
    [
      'failure without a reason',
      withBody(created, { status: 'failed', failed_at: queued.created_at }),
      'failure_reason',
    ],
    [
      'a reason without failure',
      withBody(created, { failure_reason: 'attempts_exhausted' }),
      'failure_reason',
    ],
    ['verified at no time', withBody(created, { verification: 'verified' }), 'verified_at'],
    ['a test send over WhatsApp', withBody(created, { mode: 'test', channel: 'whatsapp' }), 'test send'],
    ['a deadline before creation', withBody(created, { expires_at: '2020-01-01T00:00:00Z' }), 'expires_at'],
    [
      'a code of another operation',
      withBody(problem('invalid_json', { path: verified.path }), { code: 'invalid_code' }),
      '/code',
    ],
    ['a code of our own making', withBody(problem('invalid_json'), { code: 'oops' }), '/code'],
    ['a problem with a stack', withBody(problem('invalid_json'), { stack: 'at …' }), 'additional'],
    [
      'another status inside',
      withBody(problem('not_found', { path: '/' }), { status: 400 }),
      'the body says status 400',
    ],
    [
      'a code of another status',
      withBody(problem('not_found', { path: '/webhooks/whatsapp' }), { code: 'forbidden' }),
      'belongs to 403',
    ],
    ['another title', withBody(problem('not_found', { path: '/' }), { title: 'Nope' }), 'title'],
    [
      'a type that leads elsewhere',
      withBody(problem('not_found', { path: '/' }), { type: 'https://x.test/errors#forbidden' }),
      'type',
    ],
    [
      'a type that is no address',
      withBody(problem('invalid_json'), { type: 'errors#invalid_json' }),
      '/type',
    ],
    ['an unknown route that answers', { ...created, path: '/v1/other' }, 'Content-Type'],
    [
      'an unknown route with a wrong code',
      problem('send_not_found', { path: '/v1/other' }),
      'can only be not_found',
    ],
    ['a trailing slash that answers', { ...created, path: '/v1/send/' }, 'Content-Type'],
    ['a wrong method that answers', { ...created, method: 'PUT' }, 'Content-Type'],
    [
      'a webhook error that is no problem',
      { ...created, path: '/webhooks/whatsapp', status: 401, body: '' },
      'Content-Type',
    ],
  ])('%s', (_name, response, fault) => {
    expect(() => checkResponse(response)).toThrow(fault);
  });
});

describe('the agent', () => {
  const answer =
    (response: ApiResponse): RequestListener =>
    (_request, reply) => {
      reply.writeHead(response.status, response.headers as Record<string, string>);
      reply.end(typeof response.body === 'string' ? response.body : JSON.stringify(response.body));
    };

  it('lets an answer through that keeps the contract, and its own expectations still hold', async () => {
    const agent = contractAgent(answer(created));
    const { body } = await agent.post('/v1/send').send({ to: 'x' }).expect(202);
    expect(body).toEqual(queued);
    await expect(agent.post('/v1/send').expect(200)).rejects.toThrow('expected 200');
  });

  it.each<[string, ApiResponse]>([
    ['schema', withBody(created, { id: undefined })],
    ['header', withHeaders(created, { 'x-request-id': undefined })],
    ['status', { ...created, status: 200 }],
  ])('rejects a request whose answer breaks the contract: %s', async (_name, response) => {
    const headers = Object.fromEntries(
      Object.entries(response.headers as Record<string, string | undefined>).filter(
        ([, value]) => value !== undefined,
      ),
    );
    await expect(contractAgent(answer({ ...response, headers })).post('/v1/send')).rejects.toThrow(
      'against openapi.yaml',
    );
  });

  it('checks each of many requests, and takes a URL too', async () => {
    const server = createServer((request, reply) =>
      answer(request.url === '/v1/send' ? created : verified)(request, reply),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const agent = contractAgent(`http://127.0.0.1:${port}`);
    await agent.post('/v1/send');
    await agent.post('/v1/send/%ff/verify');
    await expect(agent.get('/v1/signup-settings')).rejects.toThrow(/GET \/v1\/signup-settings answered 200/);
    await new Promise((resolve) => server.close(resolve));
  });
});
