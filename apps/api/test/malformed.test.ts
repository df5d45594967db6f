import { generateApiKey, type ProblemCode } from '@onecode/domain';
import { buildCaller, RawConnection, type TestCaller } from '@onecode/testing';
import { checkResponse } from '@onecode/testing/contract';
import { testBodies } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let caller: TestCaller;

beforeAll(async () => {
  api = await startApi();
  caller = await buildCaller(api.db.database, 'test', { ratePerMinute: 10_000 });
});
afterAll(() => api.close());
afterEach(async () => {
  await api.create(caller).expect(202);
});

const BODY = `{"to":"${PHONE}"}`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const HOST = 'Host: codes.test\r\n';
const LIVEZ = `GET /livez HTTP/1.1\r\n${HOST}\r\n`;

/** A valid creation with this change. `KEY` becomes the key. */
const post = (headers: string, body: string, host = HOST): string =>
  `POST /v1/send HTTP/1.1\r\n${host}Authorization: Bearer KEY\r\n${headers}\r\n${body}`;

/** Writes raw bytes and reads as many answers as are expected; each must keep the contract, and nothing may come after. */
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

describe('broken HTTP is bad_request, as problem+json:', () => {
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', `GET /livez HTTP/9.9\r\n${HOST}\r\n`],
    ['HTTP/0.9, which has no version', post(LENGTH, BODY).replace(' HTTP/1.1', '')],
    ['HTTP/0.9 by its name', post(LENGTH, BODY).replace('HTTP/1.1', 'HTTP/0.9')],
    ['HTTP/2 in the form of HTTP/1', post(LENGTH, BODY).replace('HTTP/1.1', 'HTTP/2.0')],
    ['an unknown method', `FOO /v1/send HTTP/1.1\r\n${HOST}\r\n`],
    ['a method in small letters', `post /v1/send HTTP/1.1\r\n${HOST}\r\n`],
    ['a space in the path', `GET /v1/ send HTTP/1.1\r\n${HOST}\r\n`],
    ['a NUL in the path', `GET /v1/send/\0/status HTTP/1.1\r\n${HOST}\r\n`],
    ['raw bytes in the path', `GET /v1/send/\xff/status HTTP/1.1\r\n${HOST}\r\n`],
    ['CONNECT to elsewhere', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`],
    ['CONNECT to a path', `CONNECT /v1/send HTTP/1.1\r\n${HOST}\r\n`],
    ['CONNECT with more behind it', `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n${'x'.repeat(100_000)}`],
    ['lines that end in LF', post(LENGTH, BODY).replaceAll('\r\n', '\n')],
    ['a request line that ends in LF', post(LENGTH, BODY).replace('\r\n', '\n')],
    ['a header line that ends in LF', post(`X: y\n${LENGTH}`, BODY)],
    ['a header line that ends in CR', post(`X: y\r${LENGTH}`, BODY)],
    ['a NUL in a header', post(`X: a\0b\r\n${LENGTH}`, BODY)],
    ['a control byte in a header', post(`X: a\x07b\r\n${LENGTH}`, BODY)],
    ['a control byte in the idempotency key', post(`Idempotency-Key: a\x0bb\r\n${LENGTH}`, BODY)],
    ['a space before the colon', post(`X : a\r\n${LENGTH}`, BODY)],
    ['a space in a header’s name', post(`X Y: a\r\n${LENGTH}`, BODY)],
    ['a header without a name', post(`: a\r\n${LENGTH}`, BODY)],
    ['a header without a colon', post(`X\r\n${LENGTH}`, BODY)],
    ['a folded header', post(`X: a\r\n b\r\n${LENGTH}`, BODY)],
    ['no Host', post(LENGTH, BODY, '')],
    ['two Hosts', post(LENGTH, BODY, HOST + HOST)],
    ['a Host that is none', post(LENGTH, BODY, 'Host: a b@c/d\r\n')],
    ['a Host with a path', post(LENGTH, BODY, 'Host: codes.test/v1\r\n')],
    ['two Authorizations', post(`Authorization: Bearer KEY\r\n${LENGTH}`, BODY)],
    ['two Idempotency-Keys', post(`Idempotency-Key: a\r\nIdempotency-Key: b\r\n${LENGTH}`, BODY)],
    ['two Content-Types', post(`Content-Type: a/b\r\nContent-Type: a/b\r\n${LENGTH}`, BODY)],
    ['two Content-Lengths', post(LENGTH + LENGTH, BODY)],
    ['two different Content-Lengths', post(`Content-Length: 3\r\n${LENGTH}`, BODY)],
    ['a list as Content-Length', post('Content-Length: 23, 23\r\n', BODY)],
    ['a negative Content-Length', post('Content-Length: -1\r\n', BODY)],
    ['a signed Content-Length', post('Content-Length: +23\r\n', BODY)],
    ['a hexadecimal Content-Length', post('Content-Length: 0x17\r\n', BODY)],
    ['an empty Content-Length', post('Content-Length:\r\n', BODY)],
    ['a Content-Length beyond all numbers', post(`Content-Length: ${'9'.repeat(30)}\r\n`, BODY)],
    ['Transfer-Encoding behind Content-Length', post(LENGTH + CHUNKED, CHUNKS)],
    ['Content-Length behind Transfer-Encoding', post(CHUNKED + LENGTH, CHUNKS)],
    ['an unknown Transfer-Encoding', post('Transfer-Encoding: xchunked\r\n', CHUNKS)],
    ['an unknown coding where no body is needed', LIVEZ.replace(HOST, `${HOST}Transfer-Encoding: x\r\n`)],
    ['chunked that is not the last coding', post('Transfer-Encoding: chunked, gzip\r\n', CHUNKS)],
    ['chunked twice', post(CHUNKED + CHUNKED, CHUNKS)],
    ['a chunk whose size is no number', post(CHUNKED, `zz\r\n${BODY}\r\n0\r\n\r\n`)],
    ['a chunk that is longer than it says', post(CHUNKED, `10\r\n${BODY}\r\n0\r\n\r\n`)],
    ['a chunk size beyond all numbers', post(CHUNKED, `${'f'.repeat(20)}\r\n${BODY}`)],
    ['a chunk size that ends in LF', post(CHUNKED, CHUNKS.replace('\r\n', '\n'))],
    ['a chunk extension without end', post(CHUNKED, `17;${'a'.repeat(20_000)}\r\n${BODY}`)],
  ])('%s', async (_name, bytes) => {
    expect(await exchange(bytes, 1)).toEqual([[400, 'bad_request']]);
  });

  it('a broken body whose key is wrong or missing is answered once', async () => {
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
  ])('but %s is headers_too_large', async (_name, headers) => {
    expect(await exchange(`GET /v1/send/x/status HTTP/1.1\r\n${HOST}${headers}\r\n`, 1)).toEqual([
      [431, 'headers_too_large'],
    ]);
  });

  it('and so is a huge address', async () => {
    expect(await exchange(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 1)).toEqual([
      [431, 'headers_too_large'],
    ]);
  });

  it.each(['http://', 'http://[::1/livez', 'nowhere:80/x', '*'])(
    'and a target that is no path is not_found: %s',
    async (target) => {
      const method = target === '*' ? 'OPTIONS' : 'GET';
      const [answer] = await exchange(`${method} ${target} HTTP/1.1\r\n${HOST}\r\n`, 1);
      expect(answer).toEqual(target.startsWith('nowhere') ? [400, 'bad_request'] : [404, 'not_found']);
    },
  );
});

describe('each request is answered once and in order', () => {
  it('when bytes that are no request follow a good one', async () => {
    expect(await exchange(post(LENGTH, `${BODY}garbage\r\n\r\n`), 2)).toEqual([[202], [400, 'bad_request']]);
  });

  it('when its chunks break after its body was refused for its size', async () => {
    const large = `20000\r\n${'x'.repeat(0x20000)}\r\nzz\r\n`;
    expect(await exchange(post(CHUNKED, large), 1)).toEqual([[422, 'invalid_json']]);
  });

  it('when its chunks break after it was refused for its key', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(CHUNKED, '1\r\nx\r\n').replace('KEY', 'x'));
    expect((await connection.answer()).status).toBe(401);
    connection.write('zz\r\n');
    await connection.closed();
    expect(connection.rest).toBe('');
  });

  it('when several come at once', async () => {
    const all = [post(LENGTH, BODY), LIVEZ, post(LENGTH, BODY), post(CHUNKED, CHUNKS)].join('');
    expect(await exchange(all, 4)).toEqual([[202], [200], [202], [202]]);
  });
});

describe('unusual but good HTTP is served', () => {
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
    ['an expectation that we do not know', post(`Expect: something\r\n${LENGTH}`, BODY), [202]],
    ['a body of a GET', `GET /v1/signup-settings HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`, [200]],
    ['trailers', post(CHUNKED, CHUNKS.replace(/\r\n$/, 'X: y\r\n\r\n')), [202]],
  ])('%s', async (_name, bytes, expected) => {
    expect(await exchange(bytes, 1)).toEqual([expected]);
  });

  it('a client that waits for 100 Continue', async () => {
    const connection = await RawConnection.open(api.port);
    connection.write(post(`Expect: 100-continue\r\n${LENGTH}`, '').replace('KEY', caller.key));
    await connection.interim(100);
    connection.write(BODY);
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });
});

testBodies(() => apiTarget(api));
