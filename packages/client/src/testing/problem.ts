import type { ProblemCode as AnyProblemCode } from '../contract.js';

/** The problems of the contract that this server answers. The meaning is the detail of a problem that has no other. */
export const PROBLEMS = {
  bad_request: [400, 'The request is not well-formed HTTP.'],
  missing_credentials: [401, 'The request carries no Bearer credential.'],
  invalid_api_key: [401, 'The API key is not valid.'],
  insufficient_credits: [402, 'The account has neither free quota nor credits left.'],
  send_not_found: [404, 'The account of this key has no send with this id.'],
  not_found: [404, 'There is nothing at this address.'],
  method_not_allowed: [405, 'The address exists, but not for this method.'],
  idempotency_key_reused: [409, 'The application has already used this Idempotency-Key with another body.'],
  invalid_json: [422, 'The body is not the JSON that the operation expects.'],
  invalid_recipient: [422, 'The recipient is not a valid phone number.'],
  channel_unavailable: [422, 'The recipient is an e-mail address, and codes are not delivered by e-mail.'],
  invalid_code: [422, 'The code that you chose is not 4 to 10 digits.'],
  invalid_locale: [422, 'The locale is not supported.'],
  invalid_idempotency_key: [422, 'The Idempotency-Key is too long.'],
  rate_limited: [429, 'A limit was reached: no send can be created now.'],
  internal_error: [500, 'Something failed inside the service.'],
} as const satisfies Partial<Record<AnyProblemCode, [status: number, meaning: string]>>;

export type ProblemCode = keyof typeof PROBLEMS;

/** What a refusal may have besides its code. */
interface ProblemDetails {
  detail?: string | undefined;
  errors?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A refusal. The server writes it as application/problem+json. */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly details: ProblemDetails = {},
  ) {
    super(code);
  }
}

/** The answer is lost: the server closes the connection in its place. */
export class LostAnswer extends Error {}
