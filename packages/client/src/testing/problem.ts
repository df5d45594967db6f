import type { ProblemCode as AnyProblemCode } from '../contract.js';

/** The problems of the contract that this server answers. */
const STATUSES = {
  bad_request: 400,
  missing_credentials: 401,
  invalid_api_key: 401,
  insufficient_credits: 402,
  send_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_key_reused: 409,
  invalid_json: 422,
  invalid_recipient: 422,
  channel_unavailable: 422,
  invalid_code: 422,
  invalid_locale: 422,
  invalid_idempotency_key: 422,
  rate_limited: 429,
  internal_error: 500,
} as const satisfies Partial<Record<AnyProblemCode, number>>;

export type ProblemCode = keyof typeof STATUSES;

/** A refusal. The server writes it as application/problem+json. */
export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    readonly members: { detail?: string; errors?: Record<string, string> } = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(code);
    this.status = STATUSES[code];
  }
}

/** The answer is lost: the server closes the connection in its place. */
export class LostAnswer extends Error {}
