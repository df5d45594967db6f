import type { ErrorRequestHandler, Response } from 'express';
import { PROBLEMS, Problem } from '@onecode/domain';
import { logOf, type Logger } from '@onecode/runtime';
import { endRefusal, problemBody } from './answer.js';
import { ClientGone } from './body.js';

/** The `WWW-Authenticate` challenges: a 401 must have one (RFC 9110, 15.5.2). Those of Bearer are RFC 6750's. */
const CHALLENGES: Readonly<Record<string, string>> = {
  missing_credentials: 'Bearer realm="onecode"',
  invalid_api_key: 'Bearer realm="onecode", error="invalid_token"',
  invalid_signature: 'X-Hub-Signature-256',
};

/** The one place that turns an error into an answer: a `Problem` into its problem+json, anything else into a 500. */
export function problemWriter(docsUrl: string, log: Logger): ErrorRequestHandler {
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
    if (problem.code === 'internal_error') logOf(request, log).error({ err: error }, 'a request failed');
    writeHead(response, problem);
    endRefusal(response, problemBody(problem, docsUrl));
  };
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Express and its file sender say by a status of 4xx that the request is at fault, as with a range beyond a file's end.
  const { status } = error as { status?: unknown };
  return new Problem(
    typeof status === 'number' && status >= 400 && status < 500 ? 'bad_request' : 'internal_error',
  );
}

function writeHead(response: Response, problem: Problem): void {
  response.statusCode = PROBLEMS[problem.code].status;
  response.setHeader('Content-Type', 'application/problem+json');
  // Over what the route may have said of the answer that it meant to give.
  response.setHeader('Cache-Control', 'no-store');
  const challenge = CHALLENGES[problem.code];
  if (challenge !== undefined) response.setHeader('WWW-Authenticate', challenge);
  if (problem.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', String(problem.retryAfterSeconds));
}
