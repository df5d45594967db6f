import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { pinoHttp } from 'pino-http';
import { describeError, type Logger } from './log.js';

/** Listens on all addresses. @throws the operating system's error, as with a port that is taken */
export function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      resolve();
    });
  });
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

/**
 * Gives each request an id that its answer and its log lines carry, and writes one line when it has been answered.
 *
 * @param routeOf the pattern of the route that took the request: never the path itself, which may hold anything
 */
export function requestLog(
  log: Logger,
  routeOf: (request: IncomingMessage) => string,
): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  const summary = (request: IncomingMessage, response: ServerResponse): object => ({
    method: request.method,
    route: routeOf(request),
    status: response.statusCode,
  });
  const middleware = pinoHttp({
    logger: log,
    genReqId: (_request, response) => {
      const id = randomUUID();
      response.setHeader('X-Request-Id', id);
      return id;
    },
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'request_id', responseTime: 'duration_ms' },
    // What failed has a line of its own, at error level and with the same id.
    useLevel: 'info',
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    customSuccessObject: (request, response, value: object) => ({ ...value, ...summary(request, response) }),
    customErrorObject: (request, response, _error, { err: _unused, ...value }: { err: unknown }) => ({
      ...value,
      ...summary(request, response),
    }),
    // Its own serializer of errors would write a driver's text, with the row in it.
    wrapSerializers: false,
    serializers: { req: () => undefined, res: () => undefined, err: (error) => describeError(error) },
  });
  return (request, response, next) => {
    middleware(request, response);
    next();
  };
}

/** The request's own log, whose lines carry its id; `log` where the request has none yet. */
export function logOf(request: IncomingMessage, log: Logger): Logger {
  return (request as { log?: Logger }).log ?? log;
}
