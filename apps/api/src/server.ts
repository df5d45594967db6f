import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { Problem, PROBLEMS, type ProblemCode } from '@onecode/domain';
import { HEADER_BYTES_MAX } from '@onecode/runtime';
import { LINGER_MS, problemBody } from './answer.js';
import type { ApiConfig } from './config.js';
import { commonHeaders, readableTarget } from './requests.js';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 15_000;
/** Longer than the idle timeout of common load balancers, so that they never write to a connection that this server is closing. */
const KEEP_ALIVE_MS = 65_000;

/** Bounded, because even an idle connection takes memory. */
const CONNECTIONS_MAX = 4_000;

const PARSER_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Creates an HTTP server that disconnects slow clients and answers malformed HTTP with problem+json, once for each request and in order.
 */
export function createHttpServer(
  app: Express,
  { BASE_URL, DOCS_URL }: Pick<ApiConfig, 'BASE_URL' | 'DOCS_URL'>,
): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // `refuseAmbiguous` answers a missing host with problem+json.
      requireHostHeader: false,
      ...messagesOf(app),
    },
    (request, response) => {
      request.url = readableTarget(request.url ?? '');
      app(request, response);
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  // At the limit, idle connections make room for new ones.
  server.on('drop', () => server.closeIdleConnections());
  const headers = commonHeaders(BASE_URL);
  const refuse = (socket: Duplex, code: ProblemCode): void =>
    endWithProblem(socket, code, { headers, docsUrl: DOCS_URL });

  const latestAnswers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    latestAnswers.set(request.socket, response);
    // After the response, a client has limited time to finish its request.
    response.once('finish', () => {
      if (!request.complete) destroySoon(request.socket, () => !request.complete);
    });
  });

  const broken = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Node reports further data on a broken connection as another error.
    if (broken.has(socket)) return;
    broken.add(socket);
    if (error.code === 'ECONNRESET') return void socket.destroy();
    const code = PARSER_PROBLEMS[error.code ?? ''] ?? 'bad_request';
    const latest = latestAnswers.get(socket);
    if (latest === undefined || (latest.req.complete && latest.closed)) refuse(socket, code);
    else if (latest.req.complete) latest.once('close', () => refuse(socket, code));
    else if (latest.headersSent) destroySoon(socket);
    else refuse(socket, code);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node has removed its own listener. Without one, a reset connection would end the process.
    socket.on('error', () => {});
    refuse(socket, 'bad_request');
  });
  // An unknown expectation is ignored, as RFC 9110 (10.1.1) allows.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  return server;
}

/**
 * Returns request and response classes that inherit from Express's prototypes: Express's own change of each object's prototype slows V8.
 */
function messagesOf(app: Express): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse<IncomingMessage>;
} {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

function endWithProblem(
  socket: Duplex,
  code: ProblemCode,
  { headers, docsUrl }: { headers: Readonly<Record<string, string>>; docsUrl: string },
): void {
  if (!socket.writable) return void socket.destroy();
  const { status } = PROBLEMS[code];
  const body = problemBody(new Problem(code), docsUrl);
  const fields = {
    'X-Request-Id': randomUUID(),
    ...headers,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  destroySoon(socket);
}

/** Closes a connection after its client had time to read a response, if `isNeeded()` is true then. Incoming data is discarded. */
function destroySoon(socket: Duplex, isNeeded: () => boolean = () => true): void {
  const timer = setTimeout(() => {
    if (isNeeded()) socket.destroy();
  }, LINGER_MS);
  socket.once('close', () => clearTimeout(timer)).resume();
}
