import { randomUUID } from 'node:crypto';
import { bearer, contractTest, type ContractCaller, type ContractTarget } from './target.js';

const ID = randomUUID();
const PATHS: [path: string, allow: string][] = [
  ['/v1/send', 'POST'],
  [`/v1/send/${ID}/status`, 'GET, HEAD'],
  [`/v1/send/${ID}/verify`, 'POST'],
  ['/v1/send/%ff/status', 'GET, HEAD'],
  ['/v1/send/%00/verify', 'POST'],
  ['/v1/signup-settings', 'GET, HEAD'],
];
/** The methods that each path is tested with. */
export const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'QUERY',
];

/** Tests known and unknown paths and methods. */
export function testRouting(open: () => ContractTarget): void {
  const api = contractTest(open);
  let caller: ContractCaller;
  beforeAll(async () => {
    caller = await api.target.buildCaller('test');
  });

  describe('an unknown path', () => {
    it.each([
      '/v1',
      '/v1/v1/send',
      '/v2/send',
      '/V1/send',
      '/v1/Send',
      '/v1/send/',
      '/v1//send',
      '/v1/send%2f',
      '/v1/%73end/',
      '/v1/send/x',
      '/v1/send/x/status/',
      '/v1/send/x/Status',
      '/v1/send/x/y/status',
      '/v1/send//status',
      '/v1/send/x/statuses',
      '/v1/send/%ff',
      '/v1/signup-settings/',
      '/v1/signup-settings#x',
      '/%00',
      '/..',
      '/v1/../v1/send',
      `/${'a'.repeat(8_000)}`,
    ])('returns 404 not_found, with and without a key: %s', async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const headers = method === 'GET' ? [] : Object.entries(bearer(caller));
        const { json } = await api.raw(method, path, headers);
        expect(json).toMatchObject({ status: 404, code: 'not_found' });
      }
    });
  });

  describe.each(PATHS)('%s', (path, allow) => {
    it(`accepts ${allow}, and returns 405 with these methods in Allow for every other method`, async () => {
      for (const method of METHODS) {
        // The methods that Node's parser knows depend on its version.
        const { status, headers, json } = await api.raw(method, path);
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
    it('returns the response of GET without its body for /v1/signup-settings', async () => {
      const path = '/v1/signup-settings';
      const [get, head] = [await api.raw('GET', path), await api.raw('HEAD', path)];
      expect(head.status).toBe(get.status);
      expect(head.body).toBe('');
      for (const name of ['content-type', 'cache-control'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    });

    it('requires a key and an existing id for a status', async () => {
      const { id } = (await api.create(caller)).body;
      const head = (headers: Record<string, string>, of = id as string) =>
        api.raw('HEAD', `/v1/send/${of}/status`, Object.entries(headers));
      expect((await head({})).status).toBe(401);
      expect((await head(bearer(caller), ID)).status).toBe(404);
      expect(await head(bearer(caller))).toMatchObject({ status: 200, body: '' });
    });
  });

  describe('the sign-up settings', () => {
    it('are public, with ten free sends by default', async () => {
      const { type, headers, body } = await api.request.get('/v1/signup-settings').expect(200);
      expect([type, headers['cache-control']]).toEqual(['application/json', 'no-store']);
      expect(body).toEqual({ free_sends: 10 });
    });
  });
}
