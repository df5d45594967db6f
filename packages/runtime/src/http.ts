import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Histogram } from '@prometheus-io/client';
import type { Logger } from './log.js';
import { endRequestSpan, runInSpan, startRequestSpan } from './tracing.js';

/** The limits of every HTTP server. It disconnects clients that send their headers or their whole request too slowly. */
export const SERVER_LIMITS = {
  /** Bytes of a request's target and headers together: half of Node's default. */
  maxHeaderSize: 8 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than the idle timeout of common load balancers, so that they never write to a connection that this server is closing. */
  keepAliveTimeout: 65_000,
};

/**
 * Starts listening on one address. Without a host, or with an empty one or `::`, the server listens on all IPv6 and IPv4 addresses. `::`
 * itself would fail if the kernel has no IPv6; without a host, Node then uses the IPv4 addresses.
 *
 * @throws the operating system's error, such as for a port in use
 */
export async function listen(server: Server, port: number, host?: string): Promise<void> {
  server.listen(port, host === '::' ? undefined : host || undefined);
  await once(server, 'listening');
}

/** How long a request in progress may take when the process stops. */
const REQUEST_MS_MAX = 6_000;

/** Stops accepting connections, lets requests in progress finish for six seconds, and closes each connection when it is idle. */
export async function closeHttpServer(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), REQUEST_MS_MAX);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(idle);
  clearTimeout(all);
}

/** Fields of the log lines of a request. All fields exist from the start, which makes them cheap to read for each response. */
interface RequestFacts {
  request_id: string;
  /** The send that the request is about. */
  send_id: string | undefined;
  /** The request's trace, if it is traced. */
  trace_id: string | undefined;
}

const FACTS = Symbol('request facts');
type Identified = IncomingMessage & { [FACTS]?: RequestFacts };

/**
 * Returns middleware that gives each request an id, logs one line after its response, and traces it in a span that continues the caller's
 * trace.
 *
 * @param traced matches the paths that are traced
 * @param routeOf returns the route's pattern, not the path
 * @param durations observes the seconds until each response ends
 */
export function observeRequests(
  log: Logger,
  traced: RegExp,
  routeOf: (request: IncomingMessage) => string,
  durations?: Histogram<'route' | 'method' | 'status'>,
): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return (request, response, next) => {
    const facts: RequestFacts = { request_id: randomUUID(), send_id: undefined, trace_id: undefined };
    const beganAt = performance.now();
    (request as Identified)[FACTS] = facts;
    response.setHeader('X-Request-Id', facts.request_id);
    const span = startRequestSpan(request, facts.request_id, traced);
    facts.trace_id = span?.spanContext().traceId;
    response.once('close', () => {
      const { method } = request;
      const route = routeOf(request);
      // A client that left before the response has no status. Node's default would be 200.
      const status = response.headersSent ? response.statusCode : undefined;
      const durationMs = performance.now() - beganAt;
      log.info({ ...facts, duration_ms: Math.round(durationMs), method, route, status }, 'request finished');
      if (status !== undefined) durations?.observe({ route, method, status }, durationMs / 1_000);
      if (span !== null) endRequestSpan(span, `${method} ${route}`, route, status);
    });
    if (span === null) next();
    else runInSpan(span, next);
  };
}

/** Returns the fields of a request's log lines, to which later middleware adds. The request must have passed `observeRequests`. */
export function requestFacts(request: IncomingMessage): RequestFacts {
  return (request as Identified)[FACTS]!;
}

/** Returns a log with the request's fields. */
export function logOf(request: IncomingMessage, log: Logger): Logger {
  return log.child(requestFacts(request));
}
