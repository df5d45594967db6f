import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export const KEY = 'ak_test_000000000000000000000000000000000';

/** A request as the server read it, to the end of its body. */
interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** It came on a connection that was dead by then, and was not read further than its headers. */
  isLost: boolean;
}

/** What a server does with one request, after it has read it. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** A server in the service's place, which does what the test says. */
export interface Service {
  url: string;
  /** The requests that came, in their order. */
  requests: SeenRequest[];
  /** What is done with the next requests; the last one stays. */
  script(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

const dead = new WeakSet<Socket>();

async function startService(): Promise<Service> {
  const requests: SeenRequest[] = [];
  let behaviours: Behaviour[] = [];
  const server = createServer((request, response) => {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script(...next) {
      behaviours = next;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** One service for all tests of a file, without requests at the start of each. Use it inside hooks and tests only. */
export function useService(): Service {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  beforeEach(() => {
    service.requests.length = 0;
    service.script();
  });
  afterAll(() => service.close());
  return {
    get url() {
      return service.url;
    },
    get requests() {
      return service.requests;
    },
    script: (...behaviours) => service.script(...behaviours),
    close: () => service.close(),
  };
}

type Headers = Record<string, string>;

/** Answers with a body as it is. */
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

/** Answers and keeps the connection, which is dead when the next request comes on it. */
export const thenDies =
  (behaviour: Behaviour): Behaviour =>
  (response, request) => {
    dead.add(request.socket);
    behaviour(response, request);
  };
export const resets: Behaviour = (response) => void response.socket?.resetAndDestroy();
export const closes: Behaviour = (response) => void response.socket?.end();
export const staysSilent: Behaviour = () => {};
/** Sends the headers, and never the body. */
export const stopsAfterHeaders: Behaviour = (response) => {
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': '400' }).flushHeaders();
};
const DRIP_MS = 50;
/** Goes on for ever, a byte at a time: no wait between two bytes is long. */
function drip(response: ServerResponse, write: () => unknown): void {
  const timer = setInterval(write, DRIP_MS);
  response.socket?.once('close', () => clearInterval(timer));
}
/** Sends the headers, and a body that does not end. */
export const dripsBody: Behaviour = (response) => {
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': '100000' });
  drip(response, () => response.write(' '));
};
/** Sends a header that does not end. */
export const dripsHeaders: Behaviour = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 202 Accepted\r\nX-Long: ');
  drip(response, () => socket?.write('x'));
};
/** Sends half of a body, and closes. */
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

/** A send of the contract, with these of its fields otherwise. */
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
