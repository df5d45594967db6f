/** The HTTP status of each problem code, and the `detail` of a problem that has no other. */
export const PROBLEMS = {
  missing_credentials: { status: 401, meaning: 'The request carries no Bearer credential.' },
  invalid_api_key: { status: 401, meaning: 'The API key is not valid.' },
  insufficient_credits: { status: 402, meaning: 'The account has neither free quota nor credits left.' },
  send_not_found: { status: 404, meaning: 'The account of this key has no send with this id.' },
  idempotency_key_reused: {
    status: 409,
    meaning: 'The application has already used this Idempotency-Key with another body.',
  },
  invalid_json: { status: 422, meaning: 'The body is not the JSON that the operation expects.' },
  invalid_recipient: { status: 422, meaning: 'The recipient is not a valid phone number.' },
  channel_unavailable: {
    status: 422,
    meaning: 'The recipient is an e-mail address, and codes are not delivered by e-mail.',
  },
  invalid_code: { status: 422, meaning: 'The code that you chose is not 4 to 10 digits.' },
  invalid_locale: { status: 422, meaning: 'The locale is not supported.' },
  invalid_idempotency_key: { status: 422, meaning: 'The Idempotency-Key is too long.' },
  rate_limited: { status: 429, meaning: 'A limit was reached: no send can be created now.' },
  internal_error: { status: 500, meaning: 'Something failed inside the service.' },
  not_found: { status: 404, meaning: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, meaning: 'The address exists, but does not support this method.' },
  bad_request: { status: 400, meaning: 'The request is not well-formed HTTP.' },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  headers_too_large: { status: 431, meaning: 'The headers of the request are too large.' },
  forbidden: { status: 403, meaning: 'The webhook handshake was refused.' },
  invalid_signature: { status: 401, meaning: 'The webhook is not signed by the provider.' },
  payload_too_large: { status: 413, meaning: 'The webhook body is larger than 3 MiB.' },
  too_busy: { status: 503, meaning: 'Too many reports of this Meta app are waiting.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

/** A stable code that clients branch on (`ProblemCode` in `apps/api/openapi.yaml`). */
export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemDetails {
  /** One sentence for developers, which contains nothing that the client sent. */
  readonly detail?: string;
  /** A message for each invalid field, by the field's name. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Whole seconds until the same request may be retried; only with `rate_limited`. */
  readonly retryAfterSeconds?: number;
}

/** A refusal with a stable code. Its HTTP status is `PROBLEMS[code].status`; its message is the bare code. */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly code: ProblemCode,
    readonly details: ProblemDetails = {},
  ) {
    super(code);
  }
}

/** Why a known key is refused, with the `detail` of `invalid_api_key`. A revoked key gets the same response as an unknown one. */
export const KEY_REFUSALS = {
  revoked: PROBLEMS.invalid_api_key.meaning,
  expired: 'This key has expired.',
  suspended: 'The account of this key is suspended.',
} as const;
export type KeyRefusal = keyof typeof KEY_REFUSALS;
export type KeyState = 'valid' | KeyRefusal;

/** Why a send may not be created now, with the `detail` of `rate_limited`. `Retry-After` gives the time to wait. */
export const LIMIT_REFUSALS = {
  account_rate: 'This account has reached its limit of sends per minute.',
  application_rate: 'This application has reached its limit of sends per minute.',
  recipient_rate: 'This application has reached its hourly limit of sends to this recipient.',
  wrong_guesses:
    'This recipient has too many wrong codes in a row. A right code for an active send or an admin of the account resets the count, and each day lowers it.',
  active_codes: 'This recipient has too many active codes. Wait until one is verified or expires.',
  breaker:
    'Almost none of the codes that this account sent to this country were verified, which looks like fraud. Sends to this country are blocked temporarily.',
  day_ceiling: 'This account has reached its ceiling of units for today (UTC).',
  month_ceiling: 'This account has reached its ceiling of units for this month (UTC).',
  trial_ceiling:
    'Accounts that never had credits share a daily limit of live sends, and today’s is reached. Credits end this limit.',
  trial_share:
    'This account has reached the daily limit (UTC) of live sends for accounts that never had credits. Credits end this limit.',
  trial_failures:
    'WhatsApp rejected most of the latest messages of this account, so it may create only one live send per minute. Check the phone numbers. Credits end this limit.',
} as const;
export type LimitCause = keyof typeof LIMIT_REFUSALS;

/** Why an account may not send to a number, with the `detail` of `invalid_recipient`. */
export const RECIPIENT_REFUSALS = {
  country: 'This account does not send to the country of this number.',
  range:
    'This account does not send to satellite and premium-rate numbers. Accounts created by sign-up can allow them after they have had credits.',
  trial_country:
    'Until this account has had credits, it sends only to the countries that were chosen at sign-up.',
} as const;
export type RecipientCause = keyof typeof RECIPIENT_REFUSALS;
