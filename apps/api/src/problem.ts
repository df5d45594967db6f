import { finished } from 'node:stream';
import type { ErrorRequestHandler, Response } from 'express';
import { PROBLEMS, Problem } from '@onecode/domain';
import { logOf, type Logger } from '@onecode/runtime';
import { LINGER_MS, problemBody } from './answer.js';
import { ClientGone } from './body.js';
import type { RefusedRequestRecorder } from './refusedRequests.js';

/** The `WWW-Authenticate` challenges, required for every 401 (RFC 9110, 15.5.2). RFC 6750 defines the Bearer challenges. */
const CHALLENGES: Readonly<Record<string, string>> = {
  missing_credentials: 'Bearer realm="onecode"',
  invalid_api_key: 'Bearer realm="onecode", error="invalid_token"',
  invalid_signature: 'X-Hub-Signature-256',
};

/** Returns the error handler: it answers a `Problem` with its problem+json, and any other error with a 500. */
export function problemWriter(
  docsUrl: string,
  log: Logger,
  refusedRequests: RefusedRequestRecorder,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof ClientGone) {
      response.destroy();
      return;
    }
    if (response.headersSent) {
      next(error);
      return;
    }
    const problem = asProblem(error);
    if (problem.code === 'internal_error') logOf(request, log).error({ err: error }, 'request failed');
    refusedRequests.record(request, problem);
    writeHead(response, problem);
    end(response, problemBody(problem, docsUrl));
  };
}

/**
 * Ends a response. On a connection that stays open, Node discards the rest of the request's body. On any other, the end waits a second at
 * most for that rest, because closing while the client is still sending would reset the connection and could discard the response.
 */
function end(response: Response, body: string): void {
  const { req: request } = response;
  if (response.shouldKeepAlive) return void response.end(body);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.write(body);
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.resume();
  finished(request, () => {
    clearTimeout(timer);
    response.end();
  });
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Express throws errors with a 4xx status for malformed requests.
  const { status } = error as { status?: unknown };
  return new Problem(
    typeof status === 'number' && status >= 400 && status < 500 ? 'bad_request' : 'internal_error',
  );
}

function writeHead(response: Response, problem: Problem): void {
  response.statusCode = PROBLEMS[problem.code].status;
  response.setHeader('Content-Type', 'application/problem+json');
  // The route may already have set another value, meant for its successful response.
  response.setHeader('Cache-Control', 'no-store');
  const challenge = CHALLENGES[problem.code];
  if (challenge !== undefined) response.setHeader('WWW-Authenticate', challenge);
  const { retryAfterSeconds } = problem.details;
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
}
