import type { IncomingMessage } from 'node:http';
import type { IRouter, RequestHandler } from 'express';
import { Problem, trimOuter, type ProblemCode } from '@onecode/domain';
import { describeSpan, requestFacts, type Histogram } from '@onecode/runtime';

/** Returns the pattern of the request's route, never the path itself, which the client chooses. */
export function routeOf(request: IncomingMessage): string {
  const { route } = request as { route?: { path: string } };
  return route?.path ?? 'none';
}

/**
 * Returns middleware for all requests: observes the duration by route, method and status, adds the common headers, and refuses malformed
 * headers.
 */
export function prepareRequests(
  durations: Histogram<'route' | 'method' | 'status'>,
  baseUrl: string,
): RequestHandler {
  const headers = new Map(Object.entries(commonHeaders(baseUrl)));
  return (request, response, next) => {
    const end = durations.startTimer();
    response.once('finish', () => {
      end({ route: routeOf(request), method: request.method, status: String(response.statusCode) });
    });
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
 * Returns the target of a request in a form that Express can route, so that errors are answered with problem+json. If the percent-encoding
 * of the path is malformed, its percent signs are taken literally. So is a number sign, because a target has no fragment: Express would cut
 * it off. A target that is neither a path nor a URL becomes `*`, which matches no route.
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

/** The client closed the connection before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {}

/** The least memory that a chunk counts as: without it, a client could send a body byte by byte, in millions of objects. */
const CHUNK_BYTES_MIN = 256;

/**
 * Returns a function that reads the body of a request, whatever its media type and content coding, as the chunks that arrived. A body that
 * is too large is refused with `code`: by its `Content-Length` without reading it, or else when it exceeds the limit.
 *
 * If all bodies being read use more than `totalBytesMax` together, the oldest bodies are refused with `too_busy`: slow clients lose their
 * place first.
 *
 * @throws Problem, ClientGone
 */
export function createBodyReader(code: ProblemCode, bytesMax: number, totalBytesMax = Infinity) {
  /** The functions that refuse the bodies being read, the oldest first. */
  const refusals = new Set<() => void>();
  let totalBytes = 0;
  const tooLarge = (): Problem => new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });

  return (request: IncomingMessage): Promise<Buffer[]> =>
    new Promise((resolve, reject) => {
      if (Number(request.headers['content-length'] ?? 0) > bytesMax) return reject(tooLarge());
      if (request.destroyed) return reject(new ClientGone());
      const chunks: Buffer[] = [];
      let bytes = 0;
      let usedBytes = 0;
      const end = (settle: () => void): void => {
        request.off('data', take).off('end', finish).off('close', leave);
        refusals.delete(refuse);
        totalBytes -= usedBytes;
        settle();
      };
      const take = (chunk: Buffer): void => {
        chunks.push(chunk);
        bytes += chunk.length;
        const chunkBytes = Math.max(chunk.length, CHUNK_BYTES_MIN);
        usedBytes += chunkBytes;
        totalBytes += chunkBytes;
        if (bytes > bytesMax) end(() => reject(tooLarge()));
        for (const refuseOldest of refusals) {
          if (totalBytes <= totalBytesMax) break;
          refuseOldest();
        }
      };
      const finish = (): void => end(() => resolve(chunks));
      const leave = (): void => end(() => reject(new ClientGone()));
      const refuse = (): void => end(() => reject(new Problem('too_busy')));
      refusals.add(refuse);
      request.on('data', take).on('end', finish).on('close', leave);
    });
}

const readContractBody = createBodyReader('invalid_json', 65_536);

/** Reads the body of an operation of the contract, of at most 64 KiB. @throws Problem `invalid_json`, ClientGone */
export const readJsonBody = async (request: IncomingMessage): Promise<Buffer> =>
  Buffer.concat(await readContractBody(request));
