import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from './log.js';

/**
 * Listens at one address, or at all of them without a host.
 *
 * @throws the operating system's error, as with a port that is taken
 */
export function listen(server: Server, port: number, host?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** From now on each answer ends its connection: clients that keep theirs open go elsewhere before this process does. */
export function endConnectionsAfterAnswers(server: Server): void {
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

/** Accepts no more connections, lets requests under way finish, and closes each connection when it is idle. */
export async function closeHttpServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const timer = setInterval(() => server.closeIdleConnections(), 50);
  try {
    await closed;
  } finally {
    clearInterval(timer);
  }
}

/** The property of a request that holds its id. */
const REQUEST_ID = Symbol('request id');
type Identified = IncomingMessage & { [REQUEST_ID]?: string };

/**
 * Gives each request an id, which its answer and its log lines carry, and logs one line when it was answered or its connection closed.
 *
 * @param routeOf the pattern of the route that took the request: never the path itself, which may hold anything
 */
export function requestLog(
  log: Logger,
  routeOf: (request: IncomingMessage) => string,
): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return (request, response, next) => {
    const id = randomUUID();
    const beganAt = performance.now();
    (request as Identified)[REQUEST_ID] = id;
    response.setHeader('X-Request-Id', id);
    response.once('close', () => {
      log.info(
        {
          request_id: id,
          duration_ms: Math.round(performance.now() - beganAt),
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
        },
        'request',
      );
    });
    next();
  };
}

/** A log whose lines carry the request's id; `log` itself for a request without one. */
export function logOf(request: IncomingMessage, log: Logger): Logger {
  const id = (request as Identified)[REQUEST_ID];
  return id === undefined ? log : log.child({ request_id: id });
}
