import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from '@onecode/runtime';
import { memoryGrowth } from './memory.js';
import type { FuzzRequest } from './request.js';
import { Lane } from './wire.js';

const REQUEST: FuzzRequest = {
  kind: 'valid',
  operation: 'getSignupSettings',
  rule: 'keeps every rule',
  method: 'GET',
  target: '/v1/signup-settings',
  headers: [['Host', 'codes.test']],
  body: null,
  expected: [200],
  caller: 'test',
};
const HEADERS = { 'x-request-id': 'r', 'cache-control': 'no-store' };
const NOT_FOUND = {
  type: 'https://x.test/errors#not_found',
  title: 'Not Found',
  status: 404,
  code: 'not_found',
};

/** A service that answers every request in this way. */
const answering =
  (
    status: number,
    body: object,
    type = 'application/json',
    headers: Record<string, string> = {},
  ): RequestListener =>
  (_request, response) => {
    const text = JSON.stringify(body);
    response
      .writeHead(status, { ...HEADERS, 'content-type': type, 'content-length': text.length, ...headers })
      .end(text);
  };
const problem = (status: number, code: string, title: string): RequestListener =>
  answering(
    status,
    { type: `https://x.test/errors#${code}`, title, status, code },
    'application/problem+json',
  );

/** Sends one request to a service. @returns what was found wrong, or null */
async function fault(service: RequestListener, change: Partial<FuzzRequest> = {}): Promise<string | null> {
  const server = createServer(service);
  await listen(server, 0);
  const lane = new Lane((server.address() as AddressInfo).port);
  try {
    await lane.send({ ...REQUEST, ...change });
    return null;
  } catch (error) {
    return String(error);
  } finally {
    lane.close();
    server.closeAllConnections();
    server.close();
  }
}

type Case = [name: string, service: RequestListener, fault: RegExp, change?: Partial<FuzzRequest>];

describe('the fuzzer sees that', () => {
  it.each<Case>([
    [
      'a good request was answered with a fault',
      problem(500, 'internal_error', 'Internal Server Error'),
      /answered 500/,
      { expected: null },
    ],
    [
      'a good request was refused',
      problem(400, 'bad_request', 'Bad Request'),
      /answered 400 bad_request instead of 200/,
    ],
    [
      'a bad request was served',
      answering(200, { free_sends: 1 }),
      /answered 200 {2}instead of 404/,
      { expected: [404] },
    ],
    [
      'a status is not documented',
      problem(422, 'invalid_json', 'Unprocessable Entity'),
      /status 422 is not documented/,
    ],
    ['a member is missing', answering(200, {}), /free_sends/],
    [
      'a refusal is no problem+json',
      answering(404, NOT_FOUND),
      /Content-Type/,
      { target: '/x', expected: [404] },
    ],
    [
      'a header is missing',
      answering(200, { free_sends: 1 }, 'application/json', { 'x-request-id': '' }),
      /X-Request-Id/,
    ],
    ['the connection was closed', (request) => void request.socket.destroy(), /without an answer/],
    [
      'the connection was closed in the middle',
      (request) => void request.socket.end('HTTP/1.1 200 OK\r\n'),
      /without an answer/,
    ],
    [
      'there were two answers',
      (request) => void request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)),
      /more than one answer/,
    ],
  ])('%s', async (...[, service, expected, change]) => {
    expect(await fault(service, change)).toMatch(expected);
  });

  it('another account’s id is answered otherwise than an unknown one', async () => {
    const twin = { ...REQUEST, target: '/v1/signup-settings?unknown' };
    const service: RequestListener = (request, response) =>
      answering(200, { free_sends: request.url === twin.target ? 1 : 2 })(request, response);
    expect(await fault(service, { twin })).toMatch(/answers differ/);
    expect(await fault(answering(200, { free_sends: 1 }), { twin })).toBeNull();
  });

  it('memory grows, and not that it goes up and down', () => {
    const samples = (heapAt: (at: number) => number): Parameters<typeof memoryGrowth>[0] =>
      Array.from({ length: 50 }, (_, index) => ({
        at: index / 50,
        residentMib: 200,
        heapMib: heapAt(index / 50),
        sockets: 1,
      }));
    expect(memoryGrowth(samples((at) => 50 + 100 * at)).heapMib).toBeGreaterThan(50);
    expect(memoryGrowth(samples((at) => 50 + ((at * 500) % 30))).heapMib).toBeLessThan(16);
    expect(memoryGrowth(samples((at) => (at < 0.1 ? 20 : 90))).heapMib).toBe(0);
  });
});
