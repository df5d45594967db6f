import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from './log.js';

/** The largest address and headers of a request, together, that a server reads: half of Node's limit. */
export const HEADER_BYTES_MAX = 8 * 1024;

/**
 * Listens at one address. Without a host, with an empty one or with `::`, it listens at all addresses of IPv6 and IPv4. `::` itself would
 * fail where the kernel has no IPv6; without a host, Node then takes the IPv4 addresses.
 *
 * @throws the operating system's error, as with a port that is taken
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

/** What the log lines of a request carry. Each answer writes one, so all fields are there from the start: then they are cheap to read. */
export interface RequestFacts {
  request_id: string;
  /** The send that the request is about. */
  send_id: string | undefined;
  /** The request's trace, where it is traced. */
  trace_id: string | undefined;
}

const FACTS = Symbol('request facts');
type Identified = IncomingMessage & { [FACTS]?: RequestFacts };

/** Gives each request an id, and logs one line when it was answered. @param routeOf its route's pattern, never the path itself */
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
          request_id: facts.request_id,
          send_id: facts.send_id,
          trace_id: facts.trace_id,
          duration_ms: Math.round(performance.now() - beganAt),
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
        },
        'request finished',
      );
    });
    next();
  };
}

/** The request's id. @throws TypeError for a request that `requestLog` has not seen */
export function requestIdOf(request: IncomingMessage): string {
  return (request as Identified)[FACTS]!.request_id;
}

/** Makes the log lines of a request carry a fact from now on. */
export function setRequestFact(
  request: IncomingMessage,
  name: Exclude<keyof RequestFacts, 'request_id'>,
  value: string,
): void {
  const facts = (request as Identified)[FACTS];
  if (facts !== undefined) facts[name] = value;
}

/** A log whose lines carry what is known of the request; `log` itself for a request without an id. */
export function logOf(request: IncomingMessage, log: Logger): Logger {
  const facts = (request as Identified)[FACTS];
  return facts === undefined ? log : log.child(facts);
}
