import { createHmac } from 'node:crypto';
import { PROBLEMS } from '@onecode/domain';
import { closeDatabase, openDatabase } from '@onecode/store';
import { RawConnection, type RawAnswer } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { contractAnswers, testHeaders, UUID } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { APP_SECRET, startApi, VERIFY_TOKEN, type TestApi } from './testApi.js';

/** Answers that any cache may keep. */
const PUBLIC = new Set(['the contract', 'the reference', 'the page of errors', 'an asset']);

let api: TestApi;
let answers: Map<string, RawAnswer>;

/** One answer of every kind that the API gives. */
async function answersOf(api: TestApi): Promise<Map<string, RawAnswer>> {
  const contract = await contractAnswers(apiTarget(api));
  const get = (path: string, headers: [string, string][] = []) => rawRequest(api.port, 'GET', path, headers);
  const post = (path: string, headers: [string, string][], body: string) =>
    rawRequest(api.port, 'POST', path, headers, body);
  const webhook = '{}';
  const signed: [string, string] = [
    'X-Hub-Signature-256',
    `sha256=${createHmac('sha256', APP_SECRET).update(webhook).digest('hex')}`,
  ];
  const token = encodeURIComponent(VERIFY_TOKEN);
  const broken = await RawConnection.open(api.port);
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
      'a webhook': await post('/webhooks/whatsapp', [signed], webhook),
      'a webhook that is not signed': await post('/webhooks/whatsapp', [], webhook),
      'a webhook too large': await post('/webhooks/whatsapp', [signed, ['Content-Length', '4000000']], '{'),
      'the liveness': await get('/livez'),
      'the readiness': await get('/readyz'),
      'the contract': await get('/openapi.json'),
      'the reference': await get('/docs'),
      'the page of errors': await get('/docs/errors'),
      'an asset': await get('/docs/assets/docs.css'),
    }),
  );
}

beforeAll(async () => {
  api = await startApi();
  answers = await answersOf(api);
});
afterAll(() => api.close());

testHeaders(() => apiTarget(api));

/** Those take an outage, a slow client or a flood; see below and the tests of large bodies and of the budget of bodies. */
const ELSEWHERE = new Set(['internal_error', 'request_timeout', 'too_busy']);

describe('every kind of answer', () => {
  it('is among these, every problem code included', () => {
    const codes = new Set([...answers.values()].flatMap(({ json }) => json.code ?? []));
    expect(codes).toEqual(new Set(Object.keys(PROBLEMS).filter((code) => !ELSEWHERE.has(code))));
  });

  it('has a request id of its own', () => {
    const ids = [...answers.values()].map(({ headers }) => headers['x-request-id'] ?? '');
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(answers.size);
  });

  it('forbids guessing its type, and keeping it unless it is public', () => {
    for (const [name, { headers }] of answers)
      expect([name, headers['x-content-type-options'], headers['cache-control']]).toEqual([
        name,
        'nosniff',
        PUBLIC.has(name) ? expect.stringMatching(/^public, max-age=\d+$/) : 'no-store',
      ]);
  });

  it('requires HTTPS from now on, if the service is reached over HTTPS', () => {
    for (const [name, { headers }] of answers)
      expect([name, headers['strict-transport-security']]).toEqual([
        name,
        expect.stringMatching(/^max-age=\d{8}/),
      ]);
  });

  it('has each header once, and none that reveals the software or admits browsers', () => {
    for (const [name, { headers, headerCounts }] of answers) {
      for (const [header, count] of Object.entries(headerCounts))
        expect([name, header, count]).toEqual([name, header, 1]);
      for (const header of ['x-powered-by', 'server', 'set-cookie', 'access-control-allow-origin'])
        expect([name, header, headers[header]]).toEqual([name, header, undefined]);
    }
  });

  it('has a media type', () => {
    for (const [name, { status, headers }] of answers)
      expect([name, headers['content-type']]).toEqual([
        name,
        status >= 400
          ? 'application/problem+json'
          : expect.stringMatching(/^(application\/json|text\/[a-z]+;|text\/css)/),
      ]);
  });

  it('that is a problem has a type with an anchor that explains it', async () => {
    const pages = new Map<string, string>();
    for (const { json } of answers.values()) {
      if (json.code === undefined) continue;
      expect(json['type']).toBe(`${api.docsUrl}/errors#${json.code}`);
      const { pathname, hash } = new URL(String(json['type']));
      if (!pages.has(pathname)) pages.set(pathname, (await api.request.get(pathname).expect(200)).text);
      expect(pages.get(pathname)).toContain(`id="${hash.slice(1)}"`);
    }
  });
});

describe('without HTTPS', () => {
  it('no answer requires HTTPS', async () => {
    const plain = await startApi({ baseUrl: 'http://codes.test' });
    for (const [name, { headers }] of await answersOf(plain))
      expect([name, headers['strict-transport-security']]).toEqual([name, undefined]);
    await plain.close();
  });
});

describe('an internal error', () => {
  it('has the same headers, and reveals nothing of its cause', async () => {
    const database = openDatabase('postgres://nobody:leaked@127.0.0.1:1/none', { connectionsMax: 1 });
    const cutOff = await startApi({ database });
    const { json, headers, body } = await rawRequest(cutOff.port, 'GET', '/v1/signup-settings');
    expect(json).toMatchObject({ status: 500, code: 'internal_error' });
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(UUID),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'strict-transport-security': expect.stringMatching(/^max-age/),
    });
    expect(body).not.toMatch(/leaked|127\.0\.0\.1|prisma|postgres/i);
    await cutOff.close();
    await closeDatabase(database);
  });
});
