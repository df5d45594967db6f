import type { ErrorRequestHandler, Response } from 'express';
import { PROBLEMS, Problem } from '@onecode/domain';
import { logOf, type Logger } from '@onecode/runtime';
import { endRefusal, problemBody } from './answer.js';
import { ClientGone } from './body.js';
import type { RefusedRequestRecorder } from './refusedRequests.js';

/** The `WWW-Authenticate` challenges, which every 401 must have (RFC 9110, 15.5.2). RFC 6750 says those of Bearer. */
const CHALLENGES: Readonly<Record<string, string>> = {
  missing_credentials: 'Bearer realm="onecode"',
  invalid_api_key: 'Bearer realm="onecode", error="invalid_token"',
  invalid_signature: 'X-Hub-Signature-256',
};

/** The only place that turns errors into answers: a `Problem` into its problem+json, anything else into a 500. */
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
    endRefusal(response, problemBody(problem, docsUrl));
  };
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Express throws errors with a 4xx status for faulty requests.
  const { status } = error as { status?: unknown };
  return new Problem(
    typeof status === 'number' && status >= 400 && status < 500 ? 'bad_request' : 'internal_error',
  );
}

function writeHead(response: Response, problem: Problem): void {
  response.statusCode = PROBLEMS[problem.code].status;
  response.setHeader('Content-Type', 'application/problem+json');
  // Overwrites what the route may have set for its own answer.
  response.setHeader('Cache-Control', 'no-store');
  const challenge = CHALLENGES[problem.code];
  if (challenge !== undefined) response.setHeader('WWW-Authenticate', challenge);
  if (problem.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', String(problem.retryAfterSeconds));
}
