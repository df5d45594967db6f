import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { startLocalServer, type LocalServer } from './localServer.js';
import { openForFile } from './openForFile.js';

export const KEY = 'ak_test_000000000000000000000000000000000';

/** A request that the server has received. */
interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** True if it came on a dead connection; then only its headers were read. */
  isLost: boolean;
}

/** Answers, or fails to answer, a request that has been read. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** A server in place of the service, with scripted behavior. */
export interface Service extends LocalServer {
  /** The received requests, in their order. */
  requests: SeenRequest[];
  /** Sets the behaviors for the next requests. The last one repeats. */
  script(...behaviours: Behaviour[]): void;
}

const dead = new WeakSet<Socket>();

async function startService(): Promise<Service> {
  const requests: SeenRequest[] = [];
  let behaviours: Behaviour[] = [];
  const server = await startLocalServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    if (dead.has(request.socket)) {
      requests.push({ method, path, headers, body: '', isLost: true });
      request.socket.resetAndDestroy();
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('error', () => {});
    request.on('end', () => {
      requests.push({ method, path, headers, body, isLost: false });
      const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
      behaviour?.(response, request);
    });
  });
  return {
    ...server,
    requests,
    script(...next) {
      behaviours = next;
    },
  };
}

/** Starts one service for all tests of a file. Its requests are cleared before each test. Use it inside hooks and tests only. */
export function useService(): Service {
  const service = openForFile(startService, (opened) => opened.close());
  beforeEach(() => {
    service.requests.length = 0;
    service.script();
  });
  return service;
}

type Headers = Record<string, string>;

/** Answers with an unchanged body. */
export const text =
  (status: number, body: string, headers: Headers = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body);

export const json = (status: number, body: unknown, headers: Headers = {}): Behaviour =>
  text(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });

export const problem = (status: number, code: string, headers: Headers = {}, more: object = {}): Behaviour =>
  text(
    status,
    JSON.stringify({
      type: `https://codes.test/docs/errors#${code}`,
      title: 'A title',
      status,
      code,
      detail: 'A detail.',
      ...more,
    }),
    { 'content-type': 'application/problem+json', ...headers },
  );

/** Answers and keeps the connection open, but resets it at the next request. */
export const thenDies =
  (behaviour: Behaviour): Behaviour =>
  (response, request) => {
    dead.add(request.socket);
    behaviour(response, request);
  };
export const resets: Behaviour = (response) => void response.socket?.resetAndDestroy();
export const closes: Behaviour = (response) => void response.socket?.end();
export const staysSilent: Behaviour = () => {};
/** Sends the headers and no body. */
export const stopsAfterHeaders: Behaviour = (response) => {
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': '400' }).flushHeaders();
};
const DRIP_MS = 50;
/** Writes one byte at a time, forever, with short pauses. */
function drip(response: ServerResponse, write: () => unknown): void {
  const timer = setInterval(write, DRIP_MS);
  response.socket?.once('close', () => clearInterval(timer));
}
/** Sends the headers, and an endless body byte by byte. */
export const dripsBody: Behaviour = (response) => {
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': '100000' });
  drip(response, () => response.write(' '));
};
/** Sends an endless header byte by byte. */
export const dripsHeaders: Behaviour = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 202 Accepted\r\nX-Long: ');
  drip(response, () => socket?.write('x'));
};
/** Sends half of a body and closes the connection. */
export const cutsOff = (status: number, body: unknown): Behaviour => {
  const whole = JSON.stringify(body);
  return (response) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': String(whole.length),
    });
    response.write(whole.slice(0, whole.length / 2), () => response.socket?.destroy());
  };
};

/** Sends an endless body, as fast as the client reads it. */
export const floods: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const write = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
  };
  response.on('drain', write).on('error', () => {});
  write();
};

/** Returns a send of the contract, with some fields overridden. */
export const aSend = (fields: object = {}) => ({
  id: '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57',
  status: 'queued',
  verification: 'pending',
  mode: 'test',
  channel: null,
  from: null,
  expires_at: new Date(Date.now() + 600_000).toISOString(),
  created_at: new Date().toISOString(),
  sent_at: null,
  delivered_at: null,
  read_at: null,
  verified_at: null,
  failed_at: null,
  failure_reason: null,
  ...fields,
});

/** The judgement of a correct code. */
export const RIGHT = { valid: true, verification: 'verified', attempts_left: 0 };
export const WRONG = { valid: false, verification: 'pending', attempts_left: 4 };
const JSON_TYPE = { 'content-type': 'application/json' };
type Case = [name: string, behaviour: Behaviour];

const BROKEN: readonly Case[] = [
  ['a reset', resets],
  ['a connection that closes', closes],
  ['no response', staysSilent],
  ['headers without a body', stopsAfterHeaders],
  ['a body that arrives slowly', dripsBody],
  ['headers that arrive slowly', dripsHeaders],
  ['an endless response', floods],
];

/** Responses after which a creation is repeated: the outcome is unknown, or the fault is temporary. */
export const REPEATED_CREATIONS: readonly Case[] = [
  ...BROKEN,
  ['a truncated send', cutsOff(202, aSend())],
  ['an HTML page', text(202, '<html>Welcome</html>', { 'content-type': 'text/html' })],
  ['JSON that is not a send', json(202, { id: 'x' })],
  ['a send with an unknown status', json(202, { ...aSend(), status: 'lost' })],
  ['a send without a deadline', json(202, { ...aSend(), expires_at: 'soon' })],
  ['500', problem(500, 'internal_error')],
  ['504', text(504, '')],
  ['408', problem(408, 'request_timeout')],
  ['a proxy’s 408', text(408, '<html>Request Time-out</html>')],
  ['425', text(425, '')],
  ['a proxy’s 524', text(524, '')],
  ['429 with Retry-After: 0', problem(429, 'rate_limited', { 'retry-after': '0' })],
  ['a proxy’s 429', text(429, '', { 'retry-after': '0' })],
];

/** Responses after which a creation is not repeated, and the kind of error that the client throws. */
export const FINAL_CREATIONS: readonly [...Case, error: 'problem' | 'connection'][] = [
  ['401', problem(401, 'invalid_api_key'), 'problem'],
  ['402', problem(402, 'insufficient_credits'), 'problem'],
  ['409', problem(409, 'idempotency_key_reused'), 'problem'],
  ['422', problem(422, 'invalid_recipient'), 'problem'],
  ['a code of a later release', problem(418, 'teapot'), 'problem'],
  ['429 without Retry-After', problem(429, 'rate_limited'), 'problem'],
  ['429 with Retry-After: 1.5', problem(429, 'rate_limited', { 'retry-after': '1.5' }), 'problem'],
  ['429 with a negative Retry-After', problem(429, 'rate_limited', { 'retry-after': '-1' }), 'problem'],
  ['429 with two Retry-After values', problem(429, 'rate_limited', { 'retry-after': '1, 1' }), 'problem'],
  [
    '429 with a Retry-After beyond the deadline',
    problem(429, 'rate_limited', { 'retry-after': '31' }),
    'problem',
  ],
  ['a proxy’s 403', text(403, '<html>'), 'connection'],
  ['501', text(501, ''), 'connection'],
  [
    'a redirect',
    (response) => void response.writeHead(308, { location: '/v1/elsewhere' }).end(),
    'connection',
  ],
];

/** Responses after which it is unknown whether a code was judged. */
export const OPEN_VERIFICATIONS: readonly Case[] = [
  ...BROKEN,
  ['a truncated success', cutsOff(200, RIGHT)],
  ['a truncated problem', cutsOff(404, { code: 'send_not_found', status: 404 })],
  ['an HTML page', text(200, '<html>Welcome</html>', { 'content-type': 'text/html' })],
  ['a success under another media type', text(200, JSON.stringify(RIGHT), { 'content-type': 'text/plain' })],
  ['a success without a media type', text(200, JSON.stringify(RIGHT))],
  ['truncated JSON', text(200, JSON.stringify(RIGHT).slice(0, -1), JSON_TYPE)],
  [
    'a success that is not UTF-8',
    (response) =>
      void response
        .writeHead(200, JSON_TYPE)
        .end(Buffer.from(JSON.stringify({ ...RIGHT, more: '\u00ff' }), 'latin1')),
  ],
  ['the text "true"', json(200, { ...RIGHT, valid: 'true' })],
  ['an array', json(200, [RIGHT])],
  ['only the field valid', json(200, { valid: true })],
  ['valid without verification', json(200, { valid: true, attempts_left: 0 })],
  ['valid with another state', json(200, { ...RIGHT, verification: 'pending' })],
  ['valid with guesses left', json(200, { ...RIGHT, attempts_left: 5 })],
  ['an unknown state', json(200, { ...WRONG, verification: 'maybe' })],
  ['too many attempts left', json(200, { ...WRONG, attempts_left: 6 })],
  ['null', json(200, null)],
  ['201', json(201, RIGHT)],
  ['204', (response) => void response.writeHead(204).end()],
  ['a redirect', (response) => void response.writeHead(307, { location: '/v1/elsewhere' }).end()],
  ['a misdirected request', json(421, {})],
  ['a proxy’s 401', text(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' })],
  ['a proxy’s 408', text(408, 'late')],
  ['a proxy’s 429', text(429, 'slow down', { 'retry-after': '0' })],
  ['a gateway’s problem of 502', problem(502, 'blocked_by_gateway')],
  ['a problem with another status', problem(404, 'send_not_found', {}, { status: 500 })],
  ['500', problem(500, 'internal_error')],
  ['503', text(503, '', { 'retry-after': '0' })],
  ['504', text(504, '')],
];
