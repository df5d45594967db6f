import type { IncomingMessage } from 'node:http';
import type { IRouter, RequestHandler } from 'express';
import getRawBody, { type RawBodyError } from 'raw-body';
import { Problem, trimOuter, type ProblemCode } from '@onecode/domain';
import { describeSpan, requestFacts } from '@onecode/runtime';

/** Returns the pattern of the request's route, never the path itself, which the client chooses. */
export function routeOf(request: IncomingMessage): string {
  const { route } = request as { route?: { path: string } };
  return route?.path ?? 'none';
}

/** Returns middleware for all requests, which adds the common headers and refuses malformed headers. */
export function prepareRequests(baseUrl: string): RequestHandler {
  const headers = new Map(Object.entries(commonHeaders(baseUrl)));
  return (request, response, next) => {
    response.setHeaders(headers);
    checkHeaders(request);
    next();
  };
}

/** Adds the send's id to the log lines and the span of a request. */
export function setSendId(request: IncomingMessage, sendId: string): void {
  requestFacts(request).send_id = sendId;
  describeSpan({ 'onecode.send_id': sendId });
}

/**
 * Returns the bytes of the `Idempotency-Key` without outer spaces and tabs, or null without a key. The length is not limited. Node returns
 * header values in latin1, one character for each byte. `trim()` would also remove the byte 0xA0, which ends many letters in UTF-8.
 */
export function idempotencyKeyBytes(request: IncomingMessage): Buffer | null {
  const header = request.headers['idempotency-key'];
  const key = trimOuter(typeof header === 'string' ? header : '', ' \t');
  return key === '' ? null : Buffer.from(key, 'latin1');
}

/** Returns the headers of every response. Routes with public responses overwrite `Cache-Control`. */
export function commonHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}

/**
 * Returns the target of a request in a form that Express can route, so that errors are answered with problem+json:
 *
 * - If the percent-encoding of the path is malformed, all percent signs of the target are taken literally.
 * - A number sign is taken literally, because a target has no fragment. Express would cut the target off there.
 * - A target that is neither a path nor a URL becomes `*`, which matches no route.
 */
export function readableTarget(target: string): string {
  if (!target.startsWith('/') && !URL.canParse(target)) return '*';
  const path = target.replaceAll('#', '%23');
  try {
    decodeURIComponent(path.replace(/\?.*$/s, ''));
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

/** Headers that must not be repeated. Parsers disagree about which of two values counts, and attackers exploit that. */
const SINGLE = ['host', 'authorization', 'idempotency-key', 'content-type', 'x-hub-signature-256'];

/** Refuses a request with a repeated header of `SINGLE`, or without the host that HTTP/1.1 requires (RFC 9112, 3.2). @throws Problem */
function checkHeaders(request: IncomingMessage): void {
  // Most requests repeat no header at all.
  if (request.rawHeaders.length > 2 * Object.keys(request.headers).length) {
    const repeated = SINGLE.find((name) => (request.headersDistinct[name]?.length ?? 0) > 1);
    if (repeated !== undefined)
      throw new Problem('bad_request', { detail: `The ${repeated} header is repeated.` });
  }
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw new Problem('bad_request', { detail: 'The host header is missing.' });
}

/** Registers the methods of a path, and answers other methods with 405 and `Allow`. */
export function resource(
  router: IRouter,
  path: string,
  { get, post }: { get?: RequestHandler; post?: RequestHandler },
): void {
  const route = router.route(path);
  if (get !== undefined) route.get(get);
  if (post !== undefined) route.post(post);
  const allowed = [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])].join(', ');
  route.all((_request, response) => {
    response.setHeader('Allow', allowed);
    throw new Problem('method_not_allowed');
  });
}

/** The connection was closed before the body was read, by the client or at the limit of a body reader. No response is possible. */
export class ClientGone extends Error {}

/** The least memory that a chunk counts as: without it, a client could send a body byte by byte, in millions of objects. */
const CHUNK_BYTES_MIN = 256;

/**
 * Returns a function that reads the body of a request, whatever its media type and content coding. A body that is too large is refused with
 * `code`: by its `Content-Length` without reading it, or else when it exceeds the limit.
 *
 * If all bodies being read use more than `totalBytesMax` together, the clients with the oldest bodies are disconnected: slow clients lose
 * their place first.
 *
 * @throws Problem, ClientGone
 */
export function createBodyReader(code: ProblemCode, bytesMax: number, totalBytesMax = Infinity) {
  /** The requests with a body being read and the memory of each body, the oldest first. */
  const reading = new Map<IncomingMessage, number>();
  let totalBytes = 0;
  const remove = (request: IncomingMessage): void => {
    totalBytes -= reading.get(request) ?? 0;
    reading.delete(request);
  };
  return async (request: IncomingMessage): Promise<Buffer> => {
    const count = ({ length }: Buffer): void => {
      const usedBytes = reading.get(request);
      // A request still emits its buffered chunks after it was destroyed.
      if (usedBytes === undefined) return;
      const chunkBytes = Math.max(length, CHUNK_BYTES_MIN);
      reading.set(request, usedBytes + chunkBytes);
      totalBytes += chunkBytes;
      for (const oldest of reading.keys()) {
        if (totalBytes <= totalBytesMax) break;
        remove(oldest);
        oldest.destroy();
      }
    };
    reading.set(request.on('data', count), 0);
    try {
      return await getRawBody(request, {
        length: request.headers['content-length'] ?? null,
        limit: bytesMax,
      });
    } catch (error) {
      // Any other error means that the connection is closed. The client may close it even after it has sent the whole body.
      if ((error as RawBodyError).type !== 'entity.too.large') throw new ClientGone();
      throw new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });
    } finally {
      request.off('data', count);
      remove(request);
    }
  };
}

/** Reads the body of an operation of the contract, of at most 64 KiB. */
export const readJsonBody = createBodyReader('invalid_json', 65_536);
