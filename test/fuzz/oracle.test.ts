import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from '@onecode/runtime';
import { memoryGrowth } from './results.js';
import type { FuzzRequest } from './request.js';
import { KeepAliveConnection } from './connection.js';

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
/** A service that gives every request this answer. */
const answering =
  (status: number, body: object, type = 'application/json'): RequestListener =>
  (_request, response) => {
    const text = JSON.stringify(body);
    const headers = { 'x-request-id': 'r', 'cache-control': 'no-store', 'content-length': text.length };
    response.writeHead(status, { ...headers, 'content-type': type }).end(text);
  };
const problem = (status: number, code: string, title: string): RequestListener =>
  answering(
    status,
    { type: `https://x.test/errors#${code}`, title, status, detail: 'It says why.', code },
    'application/problem+json',
  );

/** Sends one request to a service. @returns the failure, or null */
async function failureOf(
  service: RequestListener,
  change: Partial<FuzzRequest> = {},
): Promise<string | null> {
  const server = createServer(service);
  await listen(server, 0);
  const connection = new KeepAliveConnection((server.address() as AddressInfo).port);
  try {
    await connection.send({ ...REQUEST, ...change });
    return null;
  } catch (error) {
    return String(error);
  } finally {
    connection.close();
    server.closeAllConnections();
    server.close();
  }
}

type Case = [name: string, service: RequestListener, failure: RegExp, change?: Partial<FuzzRequest>];

describe('the fuzzer', () => {
  it.each<Case>([
    [
      'a server error for a valid request',
      problem(500, 'internal_error', 'Internal Server Error'),
      /answered 500/,
      { expected: null },
    ],
    [
      'a refusal of a valid request',
      problem(400, 'bad_request', 'Bad Request'),
      /answered 400 bad_request instead of 200/,
    ],
    [
      'a success for an invalid request',
      answering(200, { free_sends: 1 }),
      /answered 200 {2}instead of 404/,
      { expected: [404] },
    ],
    ['an answer that breaks the contract', answering(200, {}), /free_sends/],
    [
      'a connection that closed without an answer',
      (request) => void request.socket.destroy(),
      /without a response/,
    ],
    [
      'a connection that closed within an answer',
      (request) => void request.socket.end('HTTP/1.1 200 OK\r\n'),
      /without a response/,
    ],
    [
      'a second answer',
      (request) => void request.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)),
      /more than one answer/,
    ],
  ])('reports %s', async (...[, service, expected, change]) => {
    expect(await failureOf(service, change)).toMatch(expected);
  });

  it('reports a different answer to the id of another account than to an unknown id', async () => {
    const twin = { ...REQUEST, target: '/v1/signup-settings?unknown' };
    const service: RequestListener = (request, response) =>
      answering(200, { free_sends: request.url === twin.target ? 1 : 2 })(request, response);
    expect(await failureOf(service, { twin })).toMatch(/answers differ/);
    expect(await failureOf(answering(200, { free_sends: 1 }), { twin })).toBeNull();
  });

  it('reports memory that grows, but not memory that rises and falls', () => {
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
