import { createHmac } from 'node:crypto';
import { generateApiKey, type ProblemCode } from '@onecode/domain';
import { buildCaller, RawConnection, requestBytes, type TestCaller } from '@onecode/testing';
import { checkResponse, rawRequest } from '@onecode/testing/contract';
import { APP_SECRET, PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

/** Clients that send their headers or body very slowly during all other tests of this file. */
let slow: RawConnection[];
/** A client that slowly sends the body of a refused request. */
let refused: RawConnection;
let dripping: NodeJS.Timeout;
beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 100_000 });
  slow = [await RawConnection.open(api.port), await RawConnection.open(api.port)];
  const head = post('', '').replace('KEY', caller.key).trimEnd();
  slow[0]!.write(`${head}\r\n`);
  slow[1]!.write(`${head}\r\nContent-Length: 60000\r\n\r\n`);
  refused = await RawConnection.open(api.port);
  refused.write(post('Content-Length: 60000\r\n', ''));
  dripping = setInterval(() => {
    for (const [index, connection] of [...slow, refused].entries())
      if (!connection.isClosed) connection.write(['X-Slow: 1\r\n', ' ', ' '][index]!);
  }, 250);
});
afterAll(async () => {
  clearInterval(dripping);
  for (const connection of [...slow, refused]) connection.destroy();
  await api.close();
});
afterEach(async () => {
  await api.create(caller).expect(202);
});

const BODY = `{"to":"${PHONE}"}`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const HOST = 'Host: codes.test\r\n';
const LIVEZ = `GET /livez HTTP/1.1\r\n${HOST}\r\n`;

/** Returns a creation with these parts. `KEY` is replaced by the key. */
const post = (headers: string, body: string, host = HOST): string =>
  `POST /v1/send HTTP/1.1\r\n${host}Authorization: Bearer KEY\r\n${headers}\r\n${body}`;

/** Writes raw bytes and reads the expected number of responses. Each must match the contract, and no bytes may follow. */
async function exchange(bytes: string, answers: number, key = caller.key): Promise<[number, ProblemCode?][]> {
  const requests = [...bytes.matchAll(/([A-Z]+) (?:http:\/\/codes\.test)?(\S+) HTTP\/1/g)];
  const connection = await RawConnection.open(api.port);
  try {
    connection.write(bytes.replaceAll('KEY', key));
    const codes: [number, ProblemCode?][] = [];
    for (let index = 0; index < answers; index++) {
      const [, method = '', path = ''] = requests[index] ?? [];
      const answer = await connection.answer(method);
      checkResponse({ method, path, ...answer });
      codes.push(answer.json.code === undefined ? [answer.status] : [answer.status, answer.json.code]);
      if (answer.status === 400 && index === answers - 1 && answer.headers['connection'] === 'close')
        await connection.closed();
    }
    expect(connection.rest).toBe('');
    return codes;
  } finally {
    connection.destroy();
  }
}

describe('malformed HTTP', () => {
  // `test/fuzz/malformedBytes.ts` has more input that Node's parser refuses.
  it.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['lines that end in LF', post(LENGTH, BODY).replaceAll('\r\n', '\n')],
    ['a control byte in the idempotency key', post(`Idempotency-Key: a\x0bb\r\n${LENGTH}`, BODY)],
    ['two Hosts', post(LENGTH, BODY, HOST + HOST)],
    ['no Host', post(LENGTH, BODY, '')],
    ['two Authorizations', post(`Authorization: Bearer KEY\r\n${LENGTH}`, BODY)],
    ['two Idempotency-Keys', post(`Idempotency-Key: a\r\nIdempotency-Key: b\r\n${LENGTH}`, BODY)],
    ['two Content-Types', post(`Content-Type: a/b\r\nContent-Type: a/b\r\n${LENGTH}`, BODY)],
    ['two Content-Lengths', post(LENGTH + LENGTH, BODY)],
    ['a Content-Length of 30 digits', post(`Content-Length: ${'9'.repeat(30)}\r\n`, BODY)],
    ['Transfer-Encoding after Content-Length', post(LENGTH + CHUNKED, CHUNKS)],
    ['Content-Length after Transfer-Encoding', post(CHUNKED + LENGTH, CHUNKS)],
    ['an unknown Transfer-Encoding', post('Transfer-Encoding: xchunked\r\n', CHUNKS)],
    ['chunked as a coding that is not the last', post('Transfer-Encoding: chunked, gzip\r\n', CHUNKS)],
    ['chunked twice', post(CHUNKED + CHUNKED, CHUNKS)],
    ['a chunk size that is not a number', post(CHUNKED, `zz\r\n${BODY}\r\n0\r\n\r\n`)],
    ['a chunk that does not have its stated size', post(CHUNKED, `10\r\n${BODY}\r\n0\r\n\r\n`)],
    ['a chunk extension without end', post(CHUNKED, `17;${'a'.repeat(20_000)}\r\n${BODY}`)],
  ])('is answered with bad_request, as problem+json: %s', async (_name, bytes) => {
    expect(await exchange(bytes, 1)).toEqual([[400, 'bad_request']]);
  });

  it('in the body of a request with a wrong or missing key is answered once', async () => {
    const broken = post(CHUNKED, `zz\r\n${BODY}`);
    for (const key of [generateApiKey('test'), 'x', '']) {
      const [[status] = [0]] = await exchange(broken, 1, key);
      expect([400, 401]).toContain(status);
    }
  });

  it.each([
    ['one huge header', `X: ${'a'.repeat(20_000)}\r\n`],
    ['a huge key', `Authorization: Bearer ${'a'.repeat(20_000)}\r\n`],
    ['headers of a megabyte', `X: ${'a'.repeat(10_000)}\r\n`.repeat(100)],
    ['thousands of headers', 'a:b\r\n'.repeat(20_000)],
  ])('with %s is answered with headers_too_large', async (_name, headers) => {
    expect(await exchange(`GET /v1/send/x/status HTTP/1.1\r\n${HOST}${headers}\r\n`, 1)).toEqual([
      [431, 'headers_too_large'],
    ]);
  });

  it.each([
    ['8,300 bytes', 8_300, [431, 'headers_too_large']],
    ['8,000 bytes', 8_000, [404, 'not_found']],
  ] as const)('includes headers over 8 KiB, and no smaller headers: %s', async (_name, bytes, expected) => {
    const head = `GET /x HTTP/1.1\r\n${HOST}X: `;
    const padded = head + 'a'.repeat(bytes - head.length - '\r\n\r\n'.length);
    expect(await exchange(`${padded}\r\n\r\n`, 1)).toEqual([expected]);
  });

  it('with a long address is answered with headers_too_large', async () => {
    expect(await exchange(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 1)).toEqual([
      [431, 'headers_too_large'],
    ]);
  });
});

it.each(['http://', 'http://[::1/livez', '*'])(
  'a request with the target %s, which is neither a path nor a URL, is answered with not_found',
  async (target) => {
    const method = target === '*' ? 'OPTIONS' : 'GET';
    expect(await exchange(`${method} ${target} HTTP/1.1\r\n${HOST}\r\n`, 1)).toEqual([[404, 'not_found']]);
  },
);

describe('a connection', () => {
  it('receives only the 202, and is closed, when garbage follows a valid request', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(LENGTH, `${BODY}garbage\r\n\r\n`).replace('KEY', caller.key));
    expect((await connection.answer('POST')).status).toBe(202);
    await connection.closed();
    expect([connection.error, connection.rest]).toEqual([null, '']);
  });

  it('receives one response when the chunks break after the body was refused for its size', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(CHUNKED, `20000\r\n${'x'.repeat(0x20000)}\r\n`).replace('KEY', caller.key));
    expect((await connection.answer()).json).toMatchObject({ status: 422, code: 'invalid_json' });
    connection.write('zz\r\n');
    await connection.closed();
    expect(connection.rest).toBe('');
  });

  it('receives one response when the chunks break after the key was refused', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(CHUNKED, '1\r\nx\r\n').replace('KEY', 'x'));
    expect((await connection.answer()).status).toBe(401);
    connection.write('zz\r\n');
    await connection.closed();
    expect(connection.rest).toBe('');
  });

  it('receives the responses in order when several requests arrive together', async () => {
    const all = [post(LENGTH, BODY), LIVEZ, post(LENGTH, BODY), post(CHUNKED, CHUNKS)].join('');
    expect(await exchange(all, 4)).toEqual([[202], [200], [202], [202]]);
  });
});

describe('unusual but valid HTTP', () => {
  it.each([
    ['empty lines before the request', `\r\n\r\n${LIVEZ}`, [200]],
    ['an absolute address', `GET http://codes.test/v1/signup-settings HTTP/1.1\r\n${HOST}\r\n`, [200]],
    ['a Host with a port', `GET /livez HTTP/1.1\r\nHost: codes.test:8080\r\n\r\n`, [200]],
    ['a Host that is an IPv6 address', `GET /livez HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n`, [200]],
    ['HTTP/1.0 without a Host', 'GET /v1/signup-settings HTTP/1.0\r\n\r\n', [200]],
    [
      'an upgrade that we do not offer',
      post(`Connection: Upgrade\r\nUpgrade: h2c\r\n${LENGTH}`, BODY),
      [202],
    ],
    ['an unknown expectation', post(`Expect: speed\r\n${LENGTH}`, BODY), [202]],
    ['a GET with a body', `GET /v1/signup-settings HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`, [200]],
    ['trailers', post(CHUNKED, CHUNKS.replace(/\r\n$/, 'X: y\r\n\r\n')), [202]],
  ])('is served: %s', async (_name, bytes, expected) => {
    expect(await exchange(bytes, 1)).toEqual([expected]);
  });

  it('is served when the client waits for 100 Continue', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(`Expect: 100-continue\r\n${LENGTH}`, '').replace('KEY', caller.key));
    await connection.interim(100);
    connection.write(BODY);
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });
});

describe('input that is slow for a naive regular expression', () => {
  const spaces = ' '.repeat(7_600);
  const json = (text: string): string => `{"to":"${text}"}`;
  const withBody = (body: string): string => post(`Content-Length: ${body.length}\r\n`, body);
  const get = (headers: string): string => `GET /v1/send/x/status HTTP/1.1\r\n${headers}\r\n`;

  it.each([
    ['spaces in a credential', get(`${HOST}Authorization: Bearer a${spaces}b\r\n`), 'invalid_api_key'],
    [
      'tabs in a credential',
      get(`${HOST}Authorization: Bearer a${'\t'.repeat(7_600)}b\r\n`),
      'invalid_api_key',
    ],
    ['spaces in another scheme', get(`${HOST}Authorization: Basic${spaces}b\r\n`), 'missing_credentials'],
    [
      'spaces in an idempotency key',
      post(`Idempotency-Key: a${spaces}b\r\n${LENGTH}`, BODY),
      'invalid_idempotency_key',
    ],
    ['spaces in a recipient', withBody(json(`a${' '.repeat(60_000)}b`)), 'invalid_recipient'],
    ['dots in an e-mail address', withBody(json(`a@${'.'.repeat(60_000)} `)), 'invalid_recipient'],
    ['at signs in an e-mail address', withBody(json('@'.repeat(60_000))), 'invalid_recipient'],
    ['hyphens in a number', withBody(json(`+55${'-'.repeat(60_000)}`)), 'invalid_recipient'],
    ['quotes in a body', withBody('"'.repeat(60_000)), 'invalid_json'],
    ['backslashes in a body', withBody(json('\\'.repeat(60_000))), 'invalid_recipient'],
    ['a body of spaces', withBody(' '.repeat(60_000)), 'invalid_json'],
  ])('does not delay other clients: %s', async (_name, bytes, code) => {
    const attacks = Array.from({ length: 30 }, () => exchange(bytes, 1));
    const beganAt = performance.now();
    expect(await exchange(LIVEZ, 1)).toEqual([[200]]);
    const waitedMs = performance.now() - beganAt;
    for (const [answer] of await Promise.all(attacks)) expect(answer?.[1]).toBe(code);
    // Careless patterns took over 100 ms for each of these 30 requests.
    expect(waitedMs).toBeLessThan(3_000);
  });
});

const GIGABYTE = ['Content-Length', String(2 ** 30)] as const;
const MEGABYTE = 2 ** 20;
const CHUNK = Buffer.concat([
  Buffer.from(`${MEGABYTE.toString(16)}\r\n`),
  Buffer.alloc(MEGABYTE, ' '),
  Buffer.from('\r\n'),
]);
const KEY = ['Authorization', 'Bearer KEY'] as const;
const FORGED = ['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`] as const;

type LargeRequest = [
  name: string,
  method: string,
  path: string,
  headers: (readonly [string, string])[],
  answer: object,
];
const INVALID = { status: 422, code: 'invalid_json' };
const ID = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
/** Requests that can be answered after the first bytes of the body. */
const REQUESTS: LargeRequest[] = [
  ['a creation', 'POST', '/v1/send', [KEY], INVALID],
  ['a guess', 'POST', `/v1/send/${ID}/verify`, [KEY], INVALID],
  ['a webhook', 'POST', '/webhooks/whatsapp', [FORGED], { status: 413, code: 'payload_too_large' }],
  ['a wrong key', 'POST', '/v1/send', [['Authorization', 'Bearer x']], { code: 'invalid_api_key' }],
  ['a GET with a body', 'GET', '/v1/signup-settings', [], { free_sends: 10 }],
];
const MORE_REQUESTS: LargeRequest[] = [
  ['no credential', 'POST', '/v1/send', [], { code: 'missing_credentials' }],
  ['a webhook without a signature', 'POST', '/webhooks/whatsapp', [], { code: 'invalid_signature' }],
  [
    'a long key',
    'POST',
    '/v1/send',
    [KEY, ['Idempotency-Key', 'k'.repeat(256)]],
    { code: 'invalid_idempotency_key' },
  ],
  ['a guess with an invalid id', 'POST', '/v1/send/x/verify', [KEY], { code: 'send_not_found' }],
  ['a header twice', 'POST', '/v1/send', [KEY, KEY], { code: 'bad_request' }],
  ['an unknown path', 'POST', '/v2/send', [], { code: 'not_found' }],
  ['a wrong method', 'PUT', '/v1/send', [], { code: 'method_not_allowed' }],
];

const open = async (
  [, method, path, headers]: LargeRequest,
  framing: readonly [string, string],
): Promise<RawConnection> => {
  const connection = await RawConnection.open(api.port);
  const own = headers.map(([name, value]) => [name, value.replace('KEY', caller.key)] as const);
  return connection.write(requestBytes(method, path, [['Host', 'codes.test'], ...own, framing]));
};

/** Reads the response to a request. */
async function readAnswer(
  connection: RawConnection,
  [, method, path, , expected]: LargeRequest,
): Promise<void> {
  const answer = await connection.answer(method);
  checkResponse({ method, path, ...answer });
  expect(answer.json).toMatchObject(expected);
}

describe('the response to a request with a large body', () => {
  it('is sent before a gigabyte arrives', async () => {
    await Promise.all(
      [...REQUESTS, ...MORE_REQUESTS].map(async (one) => {
        const connection = await open(one, GIGABYTE);
        await readAnswer(connection, one);
        connection.destroy();
      }),
    );
  });

  it('is sent before an endless body ends, in constant memory', async () => {
    const before = process.memoryUsage().arrayBuffers;
    let highest = before;
    const endless = async (one: LargeRequest): Promise<void> => {
      const connection = await open(one, ['Transfer-Encoding', 'chunked']);
      let megabytesLeft = 50;
      const answered = readAnswer(connection, one);
      while (megabytesLeft-- > 0) {
        await connection.push(CHUNK);
        highest = Math.max(highest, process.memoryUsage().arrayBuffers);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await answered;
      expect([connection.isClosed, connection.rest]).toEqual([false, '']);
      connection.destroy();
    };
    await Promise.all(REQUESTS.map(endless));
    expect((highest - before) / MEGABYTE).toBeLessThan(150);
  });
});

// Three times the memory that all bodies of webhooks may use together.
describe('a flood of 40 webhooks of 3 MB with a wrong signature', () => {
  const LARGE = Buffer.alloc(3 * MEGABYTE, ' ');

  it.each([
    ['every byte arrives', LARGE.length],
    ['the last byte never arrives', LARGE.length - 1],
  ])('does not block a signed webhook when %s', async (_name, bytes) => {
    const length = ['Content-Length', String(LARGE.length)] as const;
    const head = requestBytes('POST', '/webhooks/whatsapp', [['Host', 'codes.test'], FORGED, length]);
    const flood = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(api.port)));
    // All connections share the bytes, so that they are in memory once.
    for (const connection of flood) connection.write(head, LARGE.subarray(0, bytes));

    const signed = Buffer.concat([Buffer.from('{"entry":[]}'), LARGE.subarray(0, MEGABYTE)]);
    const signature = `sha256=${createHmac('sha256', APP_SECRET).update(signed).digest('hex')}`;
    const headers = [['X-Hub-Signature-256', signature] as const];
    const answer = await rawRequest(api.port, 'POST', '/webhooks/whatsapp', headers, signed);
    for (const connection of flood) connection.destroy();
    expect(answer.status).toBe(200);
  });
});

it('the API does not reset the connection of a client that is still sending, so that the client can read the response', async () => {
  const goOn = async (head: string): Promise<void> => {
    const connection = await RawConnection.open(api.port);
    connection.write(`${head}Transfer-Encoding: chunked\r\n\r\n`, ...Array<Buffer>(4).fill(CHUNK));
    expect((await connection.answer()).status).toBeGreaterThanOrEqual(400);
    await connection.push(CHUNK);
    connection.socket.end('0\r\n\r\n');
    await connection.closed();
    expect([head, connection.error, connection.rest]).toEqual([head, null, '']);
  };
  await Promise.all(
    [
      'POST /v1/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n',
      'POST /v1/send HTTP/1.1\r\nHost: x\r\nConnection: close\r\n',
      'POST /webhooks/whatsapp HTTP/1.1\r\nHost: x\r\n',
      'POST /v1/send HTTP/1.1\r\nHost : x\r\n',
      `POST /v1/send HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n`,
    ].map(goOn),
  );
});

it('the API disconnects clients that send their headers or body slowly, with request_timeout', async () => {
  for (const connection of slow) {
    await connection.closed(25_000);
    const answer = await connection.answer('POST');
    checkResponse({ method: 'POST', path: '/v1/send', ...answer });
    expect(answer.json).toMatchObject({ status: 408, code: 'request_timeout' });
  }
  await refused.closed(25_000);
  expect((await refused.answer('POST')).json).toMatchObject({ code: 'invalid_api_key' });
  expect(refused.rest).toBe('');
});
