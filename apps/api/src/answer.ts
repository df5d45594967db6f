import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Response } from 'express';
import { hashIdempotencyKey, PROBLEMS, Problem } from '@onecode/domain';
import { logOf, requestFacts, type Logger } from '@onecode/runtime';
import type { RefusedRequestCounter } from '@onecode/store/reports';
import type { AttributedRequest } from './auth.js';
import { ClientGone, idempotencyKeyBytes, routeOf } from './requests.js';

/** Writes a JSON response. Unlike Express, it adds no charset parameter to the media type: JSON defines none (RFC 8259, 11). */
export function answerJson(response: Response, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}

export function answerText(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(text);
}

/** Returns a problem's own detail, or else the meaning of its code. */
const detailOf = ({ code, details }: Problem): string => details.detail ?? PROBLEMS[code].meaning;

/** Returns a problem as application/problem+json (RFC 9457). */
export function problemBody(problem: Problem, docsUrl: string): string {
  const { status } = PROBLEMS[problem.code];
  return JSON.stringify({
    type: `${docsUrl}/errors#${problem.code}`,
    title: STATUS_CODES[status],
    status,
    code: problem.code,
    detail: detailOf(problem),
    errors: problem.details.errors,
  });
}

/** Returns the error handler: it answers a `Problem` with its problem+json, and any other error with a 500. */
export function problemWriter(
  docsUrl: string,
  log: Logger,
  refusedRequests: RefusedRequestCounter,
): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  return (error: unknown, request, response, _next) => {
    if (error instanceof ClientGone) return void response.destroy();
    const problem = error instanceof Problem ? error : new Problem('internal_error');
    if (problem.code === 'internal_error') logOf(request, log).error({ err: error }, 'request failed');
    countRefusal(refusedRequests, request, problem);
    writeHead(response, problem);
    const body = problemBody(problem, docsUrl);
    if (request.complete) return void response.end(body);
    // Reads the rest of the request first. A connection that is closed with unread bytes is reset, and the client may lose the response.
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.write(body);
    request.resume().once('end', () => response.end());
  };
}

/** Counts a refused request if the look-up of its key has found a caller. */
function countRefusal(counter: RefusedRequestCounter, request: AttributedRequest, problem: Problem): void {
  const { caller } = request;
  if (caller === undefined) return;
  const { accountId, applicationId, keyId } = caller;
  const { code, details } = problem;
  const key = idempotencyKeyBytes(request);
  counter.count({
    requestId: requestFacts(request).request_id,
    accountId,
    applicationId,
    keyId,
    refusedAt: new Date(),
    route: `${request.method} ${routeOf(request)}`,
    status: PROBLEMS[code].status,
    code,
    detail: detailOf(problem),
    fields: Object.keys(details.errors ?? {}),
    idempotencyKeyHash: key && hashIdempotencyKey(key),
  });
}

/** The `WWW-Authenticate` challenges, required for every 401 (RFC 9110, 15.5.2). RFC 6750 defines the Bearer challenges. */
const CHALLENGES: Readonly<Record<string, string>> = {
  missing_credentials: 'Bearer realm="onecode"',
  invalid_api_key: 'Bearer realm="onecode", error="invalid_token"',
  invalid_signature: 'X-Hub-Signature-256',
};

function writeHead(response: Response, { code, details }: Problem): void {
  response.statusCode = PROBLEMS[code].status;
  response.setHeader('Content-Type', 'application/problem+json');
  if (CHALLENGES[code] !== undefined) response.setHeader('WWW-Authenticate', CHALLENGES[code]);
  if (details.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', String(details.retryAfterSeconds));
}
