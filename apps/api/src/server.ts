import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem, PROBLEMS, type ProblemCode } from '@onecode/domain';
import { problemBody } from './answer.js';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 15_000;
/** Longer than the idle time of the usual load balancers, so that they never write to a connection that we are closing. */
const KEEP_ALIVE_MS = 65_000;

const PARSER_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** An HTTP server that cuts slow clients off and answers even broken HTTP with problem+json. */
export function createHttpServer(app: RequestListener, docsUrl: string): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The application says so itself, as problem+json.
      requireHostHeader: false,
    },
    app,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    endWithProblem(socket, PARSER_PROBLEMS[error.code ?? ''] ?? 'bad_request', docsUrl);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endWithProblem(socket, 'bad_request', docsUrl);
  });
  // An expectation that we do not know is no reason to refuse (RFC 9110, 10.1.1, allows either).
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    app(request, response),
  );
  return server;
}

function endWithProblem(socket: Duplex, code: ProblemCode, docsUrl: string): void {
  const { status } = PROBLEMS[code];
  const body = problemBody(new Problem(code), docsUrl);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/problem+json\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\n` +
      'X-Content-Type-Options: nosniff\r\n' +
      'Cache-Control: no-store\r\n' +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

/** Stops taking connections, lets requests under way finish, and closes each connection as it falls idle. */
export async function closeHttpServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  try {
    await closed;
  } finally {
    clearInterval(sweep);
  }
}
