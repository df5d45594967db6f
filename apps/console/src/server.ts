import { createServer, type Server } from 'node:http';
import { HEADER_BYTES_MAX } from '@onecode/runtime';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 15_000;
/** Longer than the idle timeout of the usual load balancers, so that they never write to a connection that the server is closing. */
const KEEP_ALIVE_MS = 65_000;

/** Creates an HTTP server that disconnects clients that send their headers or request too slowly. */
export function createHttpServer({ headersMs = HEADERS_MS_MAX, requestMs = REQUEST_MS_MAX } = {}): Server {
  return createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
  });
}
