import { STATUS_CODES } from 'node:http';
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

/** How long a connection stays open after a refusal, so that a client that is still writing can read the response. */
export const LINGER_MS = 1_000;

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
