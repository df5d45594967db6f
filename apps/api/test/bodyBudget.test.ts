import type { IncomingMessage } from 'node:http';
import { Problem } from '@onecode/domain';
import { RawConnection, requestBytes, startLocalServer, until, type LocalServer } from '@onecode/testing';
import { BodyBudget } from '../src/bodyBudget.js';

const KIB = 1_024;
const BYTES_MAX = 256 * KIB;
const BODY = Buffer.alloc(BYTES_MAX, 'x');

let server: LocalServer;
let port: number;
/** The lengths of the bodies that were read and the codes of those that were refused, in order. */
let ends: (number | string)[];
let requests: number;
beforeEach(async () => {
  const budget = new BodyBudget({
    bytesMax: BYTES_MAX,
    tooLarge: 'payload_too_large',
    largeMax: 1,
    waitingMax: 2,
    smallMax: 2,
  });
  const mine: typeof ends = [];
  ends = mine;
  requests = 0;
  const read = async (request: IncomingMessage): Promise<string> => {
    try {
      mine.push(
        Number(await budget.read(request, (body) => body.every((byte) => byte === 120) && body.length)),
      );
      return 'read';
    } catch (error) {
      mine.push(error instanceof Problem ? error.code : 'gone');
      return 'refused';
    }
  };
  server = await startLocalServer(async (request, response) => {
    requests += 1;
    response.end(await read(request));
  });
  ({ port } = server);
});
afterEach(() => server.close());

/** Begins a post of a body of this length, with as much of it as is given. */
async function begin(bytes: number, length = BYTES_MAX): Promise<RawConnection> {
  const headers = [
    ['Host', 'codes.test'],
    ['Content-Length', String(length)],
  ] as const;
  const connection = await RawConnection.open(port);
  return connection.write(requestBytes('POST', '/', headers), BODY.subarray(0, bytes));
}

/** A post of a body of this length that is not announced. */
async function postChunked(length: number): Promise<RawConnection> {
  const headers = [
    ['Host', 'codes.test'],
    ['Transfer-Encoding', 'chunked'],
  ] as const;
  const connection = await RawConnection.open(port);
  const body = Buffer.alloc(length, 'x');
  return connection.write(
    requestBytes('POST', '/', headers),
    `${length.toString(16)}\r\n`,
    body,
    '\r\n0\r\n\r\n',
  );
}

describe('the budget of bodies', () => {
  it('reads bodies of every length, announced or not', async () => {
    for (const length of [0, 1, 64 * KIB, 64 * KIB + 1, BYTES_MAX]) {
      const connection = await begin(length, length);
      expect((await connection.answer()).body).toBe('read');
      expect(ends.pop()).toBe(length);
      connection.destroy();
    }
    expect((await (await postChunked(BYTES_MAX)).answer()).body).toBe('read');
    expect(ends.pop()).toBe(BYTES_MAX);
  });

  it('refuses one that is too large, announced or not', async () => {
    await begin(0, BYTES_MAX + 1);
    await until('the refusal', () => ends.length === 1);
    await postChunked(BYTES_MAX + 1);
    await until('the refusal', () => ends.length === 2);
    expect(ends).toEqual(['payload_too_large', 'payload_too_large']);
  });

  it('reads many at a time, and mixes no bodies up', async () => {
    const posts = await Promise.all(Array.from({ length: 3 }, () => begin(BYTES_MAX)));
    for (const post of posts) expect((await post.answer()).body).toBe('read');
    expect(ends).toEqual([BYTES_MAX, BYTES_MAX, BYTES_MAX]);
  });

  it('cuts off only those that make too little progress while others wait', async () => {
    const slow = await begin(BYTES_MAX / 2);
    const drip = setInterval(() => slow.write('x'), 20);
    const begun = performance.now();
    await until('the end of what a slow one would get', () => performance.now() - begun > 700);
    expect(ends).toEqual([]);
    const other = await begin(BYTES_MAX);
    expect((await slow.answer()).body).toBe('refused');
    clearInterval(drip);
    expect((await other.answer()).body).toBe('read');
    expect(ends).toEqual(['request_timeout', BYTES_MAX]);
  });

  it('reads the newest waiting one first', async () => {
    const first = await begin(100 * KIB);
    await until('the first', () => requests === 1);
    const older = await begin(BYTES_MAX, BYTES_MAX);
    await until('the older', () => requests === 2);
    const newer = await begin(200 * KIB, 200 * KIB);
    await until('the newer', () => requests === 3);
    first.write(BODY.subarray(100 * KIB));
    await Promise.all([first, older, newer].map((post) => post.answer()));
    expect(ends.slice(1)).toEqual([200 * KIB, BYTES_MAX]);
  });

  it('never makes small ones wait, and cuts the oldest off when there are too many', async () => {
    const large = await begin(BYTES_MAX - 1);
    const small = [];
    for (const count of [1, 2, 3]) {
      small.push(await begin(10, 20));
      await until('the small one', () => requests === 1 + count);
    }
    expect((await small[0]!.answer()).body).toBe('refused');
    for (const post of small.slice(1)) post.write(BODY.subarray(0, 10));
    for (const post of small.slice(1)) expect((await post.answer()).body).toBe('read');
    expect(ends).toEqual(['request_timeout', 20, 20]);
    large.destroy();
  });

  it('refuses the oldest when too many wait', async () => {
    const posts = await Promise.all(Array.from({ length: 8 }, () => begin(BYTES_MAX - 1)));
    await until('a refusal', () => ends.includes('too_busy'));
    for (const post of posts) post.destroy();
  });

  it('frees its memory when clients disconnect', async () => {
    for (let round = 0; round < 4; round++) {
      const gone = await begin(BYTES_MAX - 1);
      await until('the request', () => requests === round + 1);
      gone.destroy();
      await until('the end', () => ends.length === round + 1);
    }
    expect(new Set(ends)).toEqual(new Set(['gone']));
    const post = await begin(BYTES_MAX);
    expect((await post.answer()).body).toBe('read');
  });
});
