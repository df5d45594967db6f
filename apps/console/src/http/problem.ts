import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { logOf, type Logger } from '@onecode/runtime';
import { InvalidCursor, UnknownTimeZone } from '@onecode/store/reports';
import { LimitReached, type LimitedAction } from '@onecode/store/users';

const STATUS = {
  bad_request: 400,
  not_signed_in: 401,
  wrong_credentials: 401,
  address_unconfirmed: 401,
  wrong_code: 401,
  wrong_passkey: 401,
  second_step_over: 401,
  forbidden: 403,
  wrong_origin: 403,
  second_factor_required: 403,
  confirmation_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  account_made: 409,
  conflict: 409,
  last_admin: 409,
  sender_not_ready: 409,
  payload_too_large: 413,
  invalid_input: 422,
  invited_recently: 429,
  rate_limited: 429,
  too_many_changes: 429,
  too_many_events: 429,
  too_many_invitations: 429,
  too_many_mails: 429,
  too_many_sign_ups: 429,
  too_many_tries: 429,
  internal_error: 500,
  provider_unavailable: 502,
} as const;

export type ConsoleProblemCode = keyof typeof STATUS;

/**
 * An error response. `errors` maps each invalid field to a code for which the pages have a text, such as `format`.
 */
export class ConsoleProblem extends Error {
  constructor(
    readonly code: ConsoleProblemCode,
    readonly more: { errors?: Readonly<Record<string, string>> } = {},
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(code);
  }
}

/** Returns the value if it was found. @throws ConsoleProblem `not_found` for null and false */
export function orNotFound<T>(found: T | null | false): T {
  if (found === null || found === false) throw new ConsoleProblem('not_found');
  return found;
}

/** Turns every error into a problem+json response (RFC 9457). Only the queue board's router writes its own error responses. */
export function problemWriter(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const { code, more, retryAfterSeconds } = asProblem(error);
    if (retryAfterSeconds !== null) response.set('Retry-After', String(retryAfterSeconds));
    if (code === 'internal_error') logOf(request, log).error({ err: error }, 'request failed');
    const status = STATUS[code];
    response
      .status(status)
      .set('Cache-Control', 'no-store')
      .type('application/problem+json')
      .send(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, code, ...more }));
  };
}

const BY_STATUS: Readonly<Record<number, ConsoleProblemCode>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
};

const BY_ACTION: Readonly<Record<LimitedAction, ConsoleProblemCode>> = {
  change: 'too_many_changes',
  event: 'too_many_events',
  invitation: 'too_many_invitations',
  mail: 'too_many_mails',
  repeated_invitation: 'invited_recently',
};

function asProblem(error: unknown): ConsoleProblem {
  if (error instanceof ConsoleProblem) return error;
  if (error instanceof LimitReached)
    return new ConsoleProblem(BY_ACTION[error.action], {}, error.retryAfterSeconds);
  if (error instanceof InvalidCursor)
    return new ConsoleProblem('invalid_input', { errors: { before: 'cursor' } });
  if (error instanceof UnknownTimeZone)
    return new ConsoleProblem('invalid_input', { errors: { timeZone: 'name' } });
  // Express, `express.static` and the body parser mark errors of the request with a 4xx status.
  const { status } = error as { status?: unknown };
  if (typeof status !== 'number' || status < 400 || status >= 500)
    return new ConsoleProblem('internal_error');
  return new ConsoleProblem(BY_STATUS[status] ?? 'bad_request');
}
