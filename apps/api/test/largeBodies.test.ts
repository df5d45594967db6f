import { buildCaller, RawConnection, requestBytes, until, type TestCaller } from '@onecode/testing';
import { checkResponse } from '@onecode/testing/contract';
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 100_000 });
});
afterAll(() => api.close());

const HOST = ['Host', 'codes.test'] as const;
const GIGABYTE = ['Content-Length', String(2 ** 30)] as const;
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;
const MEGABYTE = 2 ** 20;
const CHUNK = Buffer.concat([
  Buffer.from(`${MEGABYTE.toString(16)}\r\n`),
  Buffer.alloc(MEGABYTE, ' '),
  Buffer.from('\r\n'),
]);
const KEY = ['Authorization', 'Bearer KEY'] as const;
const FORGED = ['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`] as const;

type Case = [
  name: string,
  method: string,
  path: string,
  headers: (readonly [string, string])[],
  answer: object,
];
const INVALID = { status: 422, code: 'invalid_json' };
const ID = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
/** Requests whose answer is certain by the first bytes of the body. */
const REQUESTS: Case[] = [
  ['a creation', 'POST', '/v1/send', [KEY], INVALID],
  ['a guess', 'POST', `/v1/send/${ID}/verify`, [KEY], INVALID],
  ['a webhook', 'POST', '/webhooks/whatsapp', [FORGED], { status: 413, code: 'payload_too_large' }],
  ['a wrong key', 'POST', '/v1/send', [['Authorization', 'Bearer x']], { code: 'invalid_api_key' }],
  ['a body where none belongs', 'GET', '/v1/signup-settings', [], { free_sends: 10 }],
];
const MORE_REQUESTS: Case[] = [
  ['no credential', 'POST', '/v1/send', [], { code: 'missing_credentials' }],
  ['a webhook without a signature', 'POST', '/webhooks/whatsapp', [], { code: 'invalid_signature' }],
  [
    'a long key',
    'POST',
    '/v1/send',
    [KEY, ['Idempotency-Key', 'k'.repeat(256)]],
    { code: 'invalid_idempotency_key' },
  ],
  ['a guess for no id', 'POST', '/v1/send/x/verify', [KEY], { code: 'send_not_found' }],
  ['a header twice', 'POST', '/v1/send', [KEY, KEY], { code: 'bad_request' }],
  ['an unknown path', 'POST', '/v2/send', [], { code: 'not_found' }],
  ['a wrong method', 'PUT', '/v1/send', [], { code: 'method_not_allowed' }],
];

const open = async (
  [, method, path, headers]: Case,
  framing: readonly [string, string],
): Promise<RawConnection> => {
  const connection = await RawConnection.open(api.port);
  const own = headers.map(([name, value]) => [name, value.replace('KEY', caller.key)] as const);
  return connection.write(requestBytes(method, path, [HOST, ...own, framing]));
};

/** Reads the single answer to a request, and checks that the connection closes after it. */
async function onlyAnswer(connection: RawConnection, [, method, path, , expected]: Case): Promise<void> {
  const answer = await connection.answer(method);
  checkResponse({ method, path, ...answer });
  expect(answer.json).toMatchObject(expected);
  if (answer.status >= 400) expect(answer.headers['connection']).toBe('close');
  await connection.closed(8_000);
  expect(connection.rest).toBe('');
}

describe('the answer does not wait for the body, and the connection is closed', () => {
  it.each([...REQUESTS, ...MORE_REQUESTS])('of a gigabyte: %s', async (...request) => {
    await onlyAnswer(await open(request, GIGABYTE), request);
  });

  it.each(REQUESTS)('without end, in flat memory: %s', async (...request) => {
    const connection = await open(request, CHUNKED);
    const before = process.memoryUsage().arrayBuffers;
    let highest = before;
    const answering = onlyAnswer(connection, request);
    while (!connection.isClosed) {
      await connection.push(CHUNK);
      highest = Math.max(highest, process.memoryUsage().arrayBuffers);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await answering;
    expect((highest - before) / MEGABYTE).toBeLessThan(150);
  });
});

describe('a client that goes on sending after its answer', () => {
  it.each([
    ['a wrong key', `POST /v1/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n`],
    ['a body too large', 'POST /webhooks/whatsapp HTTP/1.1\r\nHost: x\r\n'],
    ['broken HTTP', 'POST /v1/send HTTP/1.1\r\nHost : x\r\n'],
    ['headers too large', `POST /v1/send HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n`],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n'],
  ])('is listened to for a while and not reset, so that it can read the answer: %s', async (_name, head) => {
    const connection = await RawConnection.open(api.port);
    connection.write(
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`,
      ...Array(4).fill(CHUNK),
    );
    expect((await connection.answer()).status).toBeGreaterThanOrEqual(400);
    await connection.push(CHUNK);
    connection.socket.end('0\r\n\r\n');
    await connection.closed();
    expect(connection.error).toBeNull();
    expect(connection.rest).toBe('');
  });
});

describe('slow clients', () => {
  it('are cut off in their headers or their body, while others are served', async () => {
    const slowHead = await RawConnection.open(api.port);
    const slowBody = await RawConnection.open(api.port);
    slowHead.write(`POST /v1/send HTTP/1.1\r\nHost: codes.test\r\nAuthorization: Bearer ${caller.key}\r\n`);
    slowBody.write(
      `POST /v1/send HTTP/1.1\r\nHost: codes.test\r\nAuthorization: Bearer ${caller.key}\r\nContent-Length: 60000\r\n\r\n`,
    );
    const began = Date.now();
    let headMs = 0;
    let served = 0;
    const dripping = setInterval(() => {
      if (!slowHead.isClosed) slowHead.write('X-Slow: 1\r\n');
      if (!slowBody.isClosed) slowBody.write(' ');
    }, 250);
    const slowest = { ms: 0 };
    await until(
      'the end of both slow connections',
      async () => {
        if (slowHead.isClosed && headMs === 0) headMs = Date.now() - began;
        const at = Date.now();
        await api.create(caller, { to: PHONE }).expect(202);
        slowest.ms = Math.max(slowest.ms, Date.now() - at);
        served += 1;
        return slowHead.isClosed && slowBody.isClosed;
      },
      40_000,
    );
    clearInterval(dripping);
    const bodyMs = Date.now() - began;
    for (const connection of [slowHead, slowBody]) {
      const answer = await connection.answer('POST');
      checkResponse({ method: 'POST', path: '/v1/send', ...answer });
      expect(answer.json).toMatchObject({ status: 408, code: 'request_timeout' });
    }
    expect(headMs).toBeGreaterThan(9_000);
    expect(bodyMs).toBeGreaterThan(14_000);
    expect(served).toBeGreaterThan(20);
    expect(slowest.ms).toBeLessThan(9_000);
  }, 60_000);
});
