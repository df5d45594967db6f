import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { PROBLEMS, type Problem } from '@onecode/domain';

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
export const detailOf = ({ code, details }: Problem): string => details.detail ?? PROBLEMS[code].meaning;

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

/** How long a connection stays open after the response while the client is still writing, so that the client can read the response. */
export const LINGER_MS = 1_000;

/** Ends an error response. While the request body is still arriving, it delays the close, because a reset could discard the response. */
export function endRefusal(response: Response, body: string): void {
  const request = response.req;
  if (!isReceiving(request)) return void response.end(body);
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

/**
 * Returns whether part of the request's body has not arrived yet. `complete` alone is not enough: it is also false before Node has looked
 * for a body.
 */
function isReceiving({ complete, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete;
}
