import { createServer, type Server } from 'node:http';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 15_000;
/** Longer than the idle time of the usual load balancers, so that they never write to a connection that we are closing. */
const KEEP_ALIVE_MS = 65_000;

/** An HTTP server that cuts off clients who send slowly or without end. */
export function createHttpServer({ headersMs = HEADERS_MS_MAX, requestMs = REQUEST_MS_MAX } = {}): Server {
  return createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
  });
}
