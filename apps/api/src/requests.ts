import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { Problem } from '@onecode/domain';
import { describeSpan, setRequestFact } from '@onecode/runtime';
import type { Caller } from '@onecode/store/accounts';
import type { ApiMetrics } from './metrics.js';

const NO_ROUTE = 'none';

/** Returns the pattern of the request's route, never the path itself, which the client chooses. */
export function routeOf(request: IncomingMessage): string {
  const { route, baseUrl } = request as Partial<Request>;
  return typeof route?.path === 'string' ? `${baseUrl ?? ''}${route.path}` : NO_ROUTE;
}

/** Returns middleware that observes the duration of each request by route, method and status. */
export function requestTimer(metrics: ApiMetrics): RequestHandler {
  return (request, response, next) => {
    const end = metrics.requests.startTimer();
    response.once('finish', () => {
      end({ route: routeOf(request), method: request.method, status: String(response.statusCode) });
    });
    next();
  };
}

/** Adds the send's id to the log lines and the span of a request. */
export function setSendId(request: IncomingMessage, sendId: string): void {
  setRequestFact(request, 'send_id', sendId);
  describeSpan({ 'onecode.send_id': sendId });
}

const CALLER = Symbol('caller');
type WithCaller = IncomingMessage & { [CALLER]?: Caller };

/** Stores the caller of a request's key, even if the key is refused. */
export function setCaller(request: IncomingMessage, caller: Caller): void {
  (request as WithCaller)[CALLER] = caller;
}

/** Returns the caller of a request's key; undefined before the look-up and for unknown keys. */
export function callerOf(request: IncomingMessage): Caller | undefined {
  return (request as WithCaller)[CALLER];
}

/** Returns the headers of every response. Routes with public responses overwrite `Cache-Control`. */
export function commonHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(baseUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}

export function withCommonHeaders(baseUrl: string): RequestHandler {
  const headers = new Map(Object.entries(commonHeaders(baseUrl)));
  return (_request, response, next) => {
    response.setHeaders(headers);
    next();
  };
}

/**
 * Returns the target of a request in a form that Express can route, so that errors are answered with problem+json. An absolute URL becomes
 * its path (RFC 9112, 3.2.2). If the percent-encoding is malformed, percent signs are taken literally, so that such an id is merely
 * unknown. A number sign is also taken literally: a target has no fragment, and Express would cut it off and serve the rest. A target
 * without a path becomes `*`, which matches no route.
 */
export function readableTarget(target: string): string {
  const path = (target.startsWith('/') ? target : pathOfAddress(target)).replaceAll('#', '%23');
  try {
    decodeURIComponent(path.replace(/\?.*$/s, ''));
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

function pathOfAddress(target: string): string {
  const authority = /^https?:\/\/[^/?#]+/i.exec(target)?.[0];
  return authority !== undefined && URL.canParse(target)
    ? target.slice(authority.length).replace(/^\/?/, '/')
    : '*';
}

/** Headers that must not be repeated. Parsers disagree about which of two values counts, and attackers exploit that. */
const SINGLE = ['host', 'authorization', 'idempotency-key', 'content-type', 'x-hub-signature-256'];

/** A host with or without a port, possibly empty (RFC 9110, 7.2). */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::[0-9]*)?$/i;

/**
 * Refuses ambiguous requests: a missing or malformed host, a repeated header of `SINGLE`, a transfer coding other than chunked, or a
 * version other than HTTP/1, which Node's parser would read as HTTP/1.
 */
export const refuseAmbiguous: RequestHandler = (request, _response, next) => {
  if (request.httpVersionMajor !== 1)
    throw new Problem('bad_request', { detail: 'The HTTP version must be 1.0 or 1.1.' });
  // Node's parser also refuses other codings, but possibly after a route that reads no body has answered.
  if (!/^(?:chunked)?$/i.test(request.headers['transfer-encoding'] ?? ''))
    throw new Problem('bad_request', { detail: 'The only supported transfer coding is chunked.' });
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = SINGLE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) throw new Problem('bad_request', { detail: `The ${twice} header is repeated.` });
  if (request.httpVersionMinor >= 1 && request.headers.host === undefined)
    throw new Problem('bad_request', { detail: 'The host header is missing.' });
  if (!HOST.test(request.headers.host ?? ''))
    throw new Problem('bad_request', { detail: 'The host header is not a valid host.' });
  next();
};
