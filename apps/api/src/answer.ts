import { STATUS_CODES } from 'node:http';
import type { Response } from 'express';
import { PROBLEMS, type Problem } from '@onecode/domain';

/**
 * Writes a JSON answer. The media type stands without a charset: JSON has none (RFC 8259, 11), and Express would add one.
 */
export function answerJson(response: Response, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}

/** The problem+json body of a problem (RFC 9457). */
export function problemBody(problem: Problem, docsUrl: string): string {
  const { status } = PROBLEMS[problem.code];
  return JSON.stringify({
    type: `${docsUrl}/errors#${problem.code}`,
    title: STATUS_CODES[status],
    status,
    code: problem.code,
    ...(problem.detail !== undefined && { detail: problem.detail }),
    ...(problem.errors !== undefined && { errors: problem.errors }),
  });
}

/** How long a client that is still writing is listened to after its answer, so that it gets to read it. */
const LINGER_MS = 1_000;

/**
 * Ends an answer while the request's body is still coming in, and closes the connection. Closing at once would reset it, and
 * the client might lose the answer; what comes in meanwhile is thrown away.
 */
export function endWhileReceiving(response: Response, body: string): void {
  const request = response.req;
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).resume();
}
