import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from './log.js';

/** The maximum size of a request's address and headers together: half of Node's limit. */
export const HEADER_BYTES_MAX = 8 * 1024;

/**
 * Starts listening on one address. Without a host, or with an empty one or `::`, the server listens on all IPv6 and IPv4 addresses. `::`
 * itself would fail if the kernel has no IPv6; without a host, Node then uses the IPv4 addresses.
 *
 * @throws the operating system's error, such as for a port in use
 */
export function listen(server: Server, port: number, host?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host === '::' ? undefined : host || undefined, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Closes connections after their next response, so that clients with persistent connections move to another process before this one stops.
 */
export function endConnectionsAfterAnswers(server: Server): void {
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

/** Stops accepting connections, lets requests in progress finish, and closes each connection when it is idle. */
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

/** Fields of the log lines of a request. All fields exist from the start, which makes them cheap to read for each response. */
export interface RequestFacts {
  request_id: string;
  /** The send that the request is about. */
  send_id: string | undefined;
  /** The request's trace, if it is traced. */
  trace_id: string | undefined;
}

const FACTS = Symbol('request facts');
type Identified = IncomingMessage & { [FACTS]?: RequestFacts };

/**
 * Returns middleware that gives each request an id and logs one line after its response.
 *
 * @param routeOf returns the route's pattern, not the path
 */
export function requestLog(
  log: Logger,
  routeOf: (request: IncomingMessage) => string,
): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return (request, response, next) => {
    const facts: RequestFacts = { request_id: randomUUID(), send_id: undefined, trace_id: undefined };
    const beganAt = performance.now();
    (request as Identified)[FACTS] = facts;
    response.setHeader('X-Request-Id', facts.request_id);
    response.once('close', () => {
      log.info(
        {
          ...facts,
          duration_ms: Math.round(performance.now() - beganAt),
          method: request.method,
          route: routeOf(request),
          status: statusOf(response),
        },
        'request finished',
      );
    });
    next();
  };
}

/** Returns the status of a response; undefined if the client left before it. Node's default would be 200. */
export function statusOf({ headersSent, statusCode }: ServerResponse): number | undefined {
  return headersSent ? statusCode : undefined;
}

/** Returns the request's id. @throws TypeError for a request that did not pass `requestLog` */
export function requestIdOf(request: IncomingMessage): string {
  return (request as Identified)[FACTS]!.request_id;
}

/** Adds a field to the later log lines of a request. */
export function setRequestFact(
  request: IncomingMessage,
  name: Exclude<keyof RequestFacts, 'request_id'>,
  value: string,
): void {
  const facts = (request as Identified)[FACTS];
  if (facts !== undefined) facts[name] = value;
}

/** Returns a log with the request's fields; `log` itself for a request without an id. */
export function logOf(request: IncomingMessage, log: Logger): Logger {
  const facts = (request as Identified)[FACTS];
  return facts === undefined ? log : log.child(facts);
}
