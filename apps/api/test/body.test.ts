import { Problem } from '@onecode/domain';
import { RawConnection, requestBytes, startLocalServer, until, type LocalServer } from '@onecode/testing';
import { ClientGone, createBodyReader } from '../src/requests.js';

const KIB = 1_024;
const BYTES_MAX = 1_024 * KIB;
const BODY = Buffer.alloc(BYTES_MAX, 'x');

let server: LocalServer;
/** The lengths of read bodies and the codes of refused bodies, in order. */
let ends: (number | string)[];
/** The number of bytes that arrived in all bodies. */
let received: number;
beforeEach(async () => {
  const read = createBodyReader('payload_too_large', BYTES_MAX, 2 * BYTES_MAX + KIB);
  const mine: typeof ends = [];
  [ends, received] = [mine, 0];
  server = await startLocalServer(async (request, response) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    const end = await read(request).then(
      (body) => (body.equals(BODY.subarray(0, body.length)) ? body.length : 'mixed up'),
      (error: unknown) => (error instanceof Problem ? error.code : 'gone'),
    );
    mine.push(end);
    response.end(String(end));
  });
});
afterEach(() => server.close());

/** Posts the first bytes of a body of this length, and waits until they have arrived. */
async function begin(bytes: number, length = BYTES_MAX): Promise<RawConnection> {
  const headers = [
    ['Host', 'codes.test'],
    ['Content-Length', String(length)],
  ] as const;
  const expected = received + bytes;
  const connection = await RawConnection.open(server.port);
  connection.write(requestBytes('POST', '/', headers), BODY.subarray(0, bytes));
  await until('the bytes', () => received >= expected);
  return connection;
}

/** Posts a body without a `Content-Length`. */
async function postChunked(length: number): Promise<RawConnection> {
  const headers = [
    ['Host', 'codes.test'],
    ['Transfer-Encoding', 'chunked'],
  ] as const;
  const connection = await RawConnection.open(server.port);
  const body = Buffer.alloc(length, 'x');
  return connection.write(
    requestBytes('POST', '/', headers),
    `${length.toString(16)}\r\n`,
    body,
    '\r\n0\r\n\r\n',
  );
}

describe('createBodyReader', () => {
  it('reads bodies of every length, with and without a Content-Length', async () => {
    for (const length of [0, 1, 64 * KIB + 1, BYTES_MAX]) {
      expect((await (await begin(length, length)).answer()).body).toBe(String(length));
      if (length > 0) expect((await (await postChunked(length)).answer()).body).toBe(String(length));
    }
  });

  it('refuses a body that is too large, with and without a Content-Length', async () => {
    expect((await (await begin(0, BYTES_MAX + 1)).answer()).body).toBe('payload_too_large');
    expect((await (await postChunked(BYTES_MAX + 1)).answer()).body).toBe('payload_too_large');
  });

  it('disconnects the client with the oldest body when all bodies together exceed the maximum', async () => {
    const posts = [await begin(BYTES_MAX - 1), await begin(BYTES_MAX - 1), await begin(2 * KIB, 4 * KIB)];
    const [oldest, older, newest] = posts as [RawConnection, RawConnection, RawConnection];
    await oldest.closed();
    for (const [post, rest] of [
      [older, 1],
      [newest, 2 * KIB],
    ] as const)
      post.write(BODY.subarray(0, rest));
    expect((await older.answer()).body).toBe(String(BYTES_MAX));
    expect((await newest.answer()).body).toBe(String(4 * KIB));
    expect(ends[0]).toBe('gone');
  });

  it('reads small bodies while large bodies use the whole maximum', async () => {
    const large = [await begin(BYTES_MAX - 1), await begin(BYTES_MAX - 1)];
    for (let count = 0; count < 4; count++) expect((await (await begin(10, 10)).answer()).body).toBe('10');
    for (const post of large) expect((await post.write('x').answer()).body).toBe(String(BYTES_MAX));
  });

  it('counts a body towards the maximum only until its client disconnects', async () => {
    for (const attempt of [1, 2, 3, 4]) {
      const gone = await begin(900 * KIB);
      gone.destroy();
      await until('the end', () => ends.length === attempt);
    }
    expect(new Set(ends)).toEqual(new Set(['gone']));
    const waiting = await begin(BYTES_MAX - 1);
    expect((await (await begin(BYTES_MAX)).answer()).body).toBe(String(BYTES_MAX));
    expect((await waiting.write('x').answer()).body).toBe(String(BYTES_MAX));
  });

  it('throws ClientGone if the client has left, even if the whole body had arrived before', async () => {
    const read = createBodyReader('payload_too_large', BYTES_MAX);
    let hasArrived = false;
    let fault: unknown;
    const slow = await startLocalServer(async (request) => {
      hasArrived = true;
      await new Promise((resolve) => request.once('close', resolve));
      fault = await read(request).catch((error: unknown) => error);
    });
    const leaving = await RawConnection.open(slow.port);
    leaving.write(requestBytes('POST', '/', [['Host', 'codes.test']], 'body'));
    await until('the request', () => hasArrived);
    leaving.destroy();
    await until('the end', () => fault !== undefined);
    await slow.close();
    expect(fault).toBeInstanceOf(ClientGone);
  });
});
