import { PROBLEMS } from '@onecode/domain';
import { changeSetting, closeDatabase, createAccount, findAccount, openDatabase } from '@onecode/store';
import { buildAccount, buildCaller, TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { METHODS, testRouting } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { bearer, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test');
});
afterAll(() => api.close());

testRouting(() => apiTarget(api));

describe('an unknown path is not_found, with and without a key', () => {
  it.each([
    '/webhooks',
    '/webhooks/whatsapp/',
    '/webhooks/other',
    '/livez/',
    '/metrics',
    '/openapi.yaml',
    '/docs/unknown',
    '/docs/errors/',
  ])('%s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const headers = method === 'GET' ? [] : Object.entries(bearer(caller));
      const { json } = await rawRequest(api.port, method, path, headers);
      expect(json).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

const PATHS: [path: string, allow: string][] = [
  ['/webhooks/whatsapp', 'GET, HEAD, POST'],
  ['/livez', 'GET, HEAD'],
  ['/readyz', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/docs/', 'GET, HEAD'],
  ['/docs/errors', 'GET, HEAD'],
];

describe.each(PATHS)('%s', (path, allow) => {
  it(`takes ${allow}, and answers every other method with 405 and just that in Allow`, async () => {
    for (const method of METHODS) {
      // Which methods Node's parser knows depends on its version.
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

describe('HEAD', () => {
  it.each(['/openapi.json', '/docs', '/docs/', '/docs/errors', '/livez', '/readyz'])(
    'is GET without the body: %s',
    async (path) => {
      const [get, head] = [await rawRequest(api.port, 'GET', path), await rawRequest(api.port, 'HEAD', path)];
      expect(head.status).toBe(get.status);
      expect(head.body).toBe('');
      for (const name of ['content-type', 'cache-control'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    },
  );
});

it.each([
  ['a range', { Range: 'bytes=0-1' }],
  ['a condition that does not hold', { 'If-Match': '"another"' }],
])('%s in a request for a file is ignored: the answer is the whole file', async (_, headers) => {
  const { status, body } = await api.request.get('/docs/icon.svg').set(headers);
  expect([status, String(body)]).toEqual([200, expect.stringContaining('</svg>')]);
});

describe('the sign-up settings', () => {
  const read = async (): Promise<unknown> => {
    const { type, headers, body } = await api.request.get('/v1/signup-settings').expect(200);
    expect([type, headers['cache-control']]).toEqual(['application/json', 'no-store']);
    return body;
  };

  it('follow a change within five seconds, down to none, for new accounts only', async () => {
    const old = await buildAccount(api.db.database);
    for (const freeSends of [25, 0, 10]) {
      await changeSetting(api.db.database, TEST_ACTOR, 'freeSends', freeSends);
      await until(
        'the changed setting',
        async () => ((await read()) as { free_sends: number }).free_sends === freeSends,
        5_000,
      );
      const made = await createAccount(api.db.database, TEST_ACTOR, {
        name: 'New',
        language: 'en',
        freeQuota: null,
        credits: 0,
        ratePerMinute: null,
      });
      expect(made.freeQuota).toBe(freeSends);
      expect(await findAccount(api.db.database, old)).toMatchObject({ freeQuota: 10 });
    }
  });

  it('are internal_error when they cannot be read', async () => {
    await api.db.sql('alter table settings rename to settings_away');
    const failed: unknown = await until('an answer without the setting', async () => {
      const { body } = await api.request.get('/v1/signup-settings');
      return (body as { free_sends?: number }).free_sends === undefined && body;
    });
    await api.db.sql('alter table settings_away rename to settings');
    expect(failed).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await read()).toEqual({ free_sends: 10 });
  });
});

describe('health', () => {
  it('is live and ready while PostgreSQL answers', async () => {
    for (const path of ['/livez', '/readyz'])
      expect(await rawRequest(api.port, 'GET', path)).toMatchObject({ status: 200, body: 'ok\n' });
  });

  it('is live but not ready while PostgreSQL is away, and names what is missing and nothing else', async () => {
    const database = openDatabase('postgres://nobody:leaked@127.0.0.1:1/none', { connectionsMax: 1 });
    const cutOff = await startApi({ database });
    expect((await rawRequest(cutOff.port, 'GET', '/livez')).status).toBe(200);
    expect(await rawRequest(cutOff.port, 'GET', '/readyz')).toMatchObject({
      status: 503,
      body: 'not ready: database\n',
    });
    await cutOff.close();
    await closeDatabase(database);
  });
});

describe('the contract', () => {
  it('is served as OpenAPI 3.1, version 1.0.0, with the four operations and this service’s address', async () => {
    const { type, body } = await api.request.get('/openapi.json').expect(200);
    expect(type).toBe('application/json');
    expect(body.openapi).toMatch(/^3\.1\./);
    expect(body.info.version).toBe('1.0.0');
    expect(body.servers).toEqual([{ url: 'https://codes.test' }]);
    const operations = Object.entries(body.paths as Record<string, object>).flatMap(([path, node]) =>
      Object.keys(node).map((method) => `${method} ${path}`),
    );
    expect(operations).toEqual([
      'post /v1/send',
      'get /v1/send/{id}/status',
      'post /v1/send/{id}/verify',
      'get /v1/signup-settings',
    ]);
  });

  it.each(Object.keys(PROBLEMS))('explains %s at the address in a problem’s type', async (code) => {
    const { pathname, hash } = new URL(`${api.docsUrl}/errors#${code}`);
    const { text } = await api.request.get(pathname).expect(200);
    expect(text).toContain(`id="${hash.slice(1)}"`);
  });
});
