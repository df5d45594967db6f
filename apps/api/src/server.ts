import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, ServerResponse, STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { Problem, PROBLEMS, type ProblemCode } from '@onecode/domain';
import { SERVER_LIMITS } from '@onecode/runtime';
import { problemBody } from './answer.js';
import type { ApiConfig } from './config.js';
import { commonHeaders, readableTarget } from './requests.js';

/** Bounded, because even an idle connection takes memory. */
const CONNECTIONS_MAX = 4_000;

const PARSER_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

type Addresses = Pick<ApiConfig, 'BASE_URL' | 'DOCS_URL'>;

/** Creates an HTTP server that answers malformed HTTP with problem+json. */
export function createHttpServer(app: Express, addresses: Addresses): Server {
  const latestResponses = new WeakMap<Duplex, ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    latestResponses.set(request.socket, response);
    request.url = readableTarget(request.url ?? '');
    app(request, response);
  };
  const server = createServer(
    {
      ...SERVER_LIMITS,
      // `prepareRequests` answers a missing host with problem+json.
      requireHostHeader: false,
      ...messagesOf(app),
    },
    serve,
  );
  // Ignores unknown expectations. By default, Node answers them with a 417 without a body.
  server.on('checkExpectation', serve);
  server.maxConnections = CONNECTIONS_MAX;
  // At the limit, idle connections make room for new ones.
  server.on('drop', () => server.closeIdleConnections());

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The client has reset the connection, or its malformed request was already refused.
    if (!socket.writable) return;
    const latest = latestResponses.get(socket);
    const isInBody = latest !== undefined && !latest.req.complete;
    // The body of a refused request is malformed or slow.
    if (isInBody && latest.headersSent) socket.destroy();
    // Malformed bytes follow a request that is in progress. It is still answered, and then the connection is closed.
    else if (latest !== undefined && !isInBody && !latest.closed) latest.shouldKeepAlive = false;
    else refuse(socket, PARSER_PROBLEMS[error.code ?? ''] ?? 'bad_request', addresses);
  });
  return server;
}

/**
 * Returns request and response classes with the prototypes that Express expects. Otherwise Express replaces the prototype of each request
 * and response, which slows V8.
 */
function messagesOf(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/** How long a connection stays open after a refusal, so that a client that is still writing can read the response. */
const LINGER_MS = 1_000;

/** Writes a problem response to a connection, and closes it. */
function refuse(socket: Duplex, code: ProblemCode, { BASE_URL, DOCS_URL }: Addresses): void {
  const { status } = PROBLEMS[code];
  const body = problemBody(new Problem(code), DOCS_URL);
  const fields = {
    'X-Request-Id': randomUUID(),
    ...commonHeaders(BASE_URL),
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
