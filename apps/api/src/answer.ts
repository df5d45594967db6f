import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { PROBLEMS, type Problem } from '@onecode/domain';

/** Writes a JSON answer. Its media type has no charset: JSON has none (RFC 8259, 11), and Express would add one. */
export function answerJson(response: Response, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}

/** Writes an answer in plain text. */
export function answerText(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(text);
}

/** The sentence of a problem: its own, or what its code means. */
export const detailOf = ({ code, detail }: Problem): string => detail ?? PROBLEMS[code].meaning;

/** The body of a problem, as application/problem+json (RFC 9457). */
export function problemBody(problem: Problem, docsUrl: string): string {
  const { status } = PROBLEMS[problem.code];
  return JSON.stringify({
    type: `${docsUrl}/errors#${problem.code}`,
    title: STATUS_CODES[status],
    status,
    code: problem.code,
    detail: detailOf(problem),
    ...(problem.errors !== undefined && { errors: problem.errors }),
  });
}

/** How long a connection stays open after the answer while the client is still writing, so that the client can read it. */
export const LINGER_MS = 1_000;

/** Ends a refusal. While the body still comes in, the connection closes later: a reset could take the answer from the client. */
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

/** Whether a part of the request's body has not come in yet. `complete` alone is also false before Node has looked for a body. */
function isReceiving({ complete, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete;
}
