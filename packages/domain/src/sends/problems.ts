/** The meaning of a problem code. The three texts are for people and may change; `status` is the HTTP status. */
export interface ProblemEntry {
  readonly status: number;
  readonly meaning: string;
  readonly cause: string;
  readonly remedy: string;
}

const TABLE = {
  missing_credentials: {
    status: 401,
    meaning: 'The request carries no Bearer credential.',
    cause: 'The Authorization header is missing, is empty, or uses a scheme other than Bearer.',
    remedy: 'Send "Authorization: Bearer <API_KEY>" with every call, over HTTPS and from your server only.',
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The API key is not valid.',
    cause: 'The key is malformed, was never issued, has been revoked or has expired, or its account is suspended.',
    remedy:
      'Check that the whole key was copied. If it was revoked or has expired, create a new one in the dashboard. If the detail says that the account is suspended, ask the operator.',
  },
  insufficient_credits: {
    status: 402,
    meaning: 'The account has neither free quota nor credits left.',
    cause: 'A live send needs one unit of the free quota, or else one credit. Test sends never need either.',
    remedy: 'Add credits to the account, then send the same request again. Do not retry in an endless loop.',
  },
  send_not_found: {
    status: 404,
    meaning: 'The account of this key has no send with this id.',
    cause: 'The id is mistyped, or it belongs to another account.',
    remedy: 'Use the id that came back when the send was created, with a key of the same account.',
  },
  idempotency_key_reused: {
    status: 409,
    meaning: 'The application has already used this Idempotency-Key with another body.',
    cause: 'The bodies differ in at least one byte; white space and the order of fields count.',
    remedy: 'Repeat a request with exactly the bytes of the first one, or use a new key for a new send.',
  },
  invalid_json: {
    status: 422,
    meaning: 'The body is not the JSON that the operation expects.',
    cause:
      'It is not valid JSON in UTF-8, is not an object, is larger than 64 KiB, or has a member that is unknown, given twice, of the wrong type, or (code, when verifying) missing.',
    remedy: 'Send one JSON object with the documented members only, each at most once, with string values.',
  },
  invalid_recipient: {
    status: 422,
    meaning: 'The recipient is not a valid phone number.',
    cause:
      'The field "to" is missing, lacks the + and the country code, or is not a possible number; or the account does not send to its country, or to satellite and premium-rate numbers. The detail says which.',
    remedy:
      'Give the number in E.164 form, for example +5511961234567. Log the detail: where it names a country or range, the number may be right, and the account does not send there. Then ask for another number; an admin of the account allows countries and ranges in the dashboard, under Protection, and credits end the limits of a trial account.',
  },
  channel_unavailable: {
    status: 422,
    meaning: 'The recipient is an e-mail address, and codes are not delivered by e-mail.',
    cause: 'The field "to" holds a valid e-mail address.',
    remedy: 'Ask the user for a phone number and send to that.',
  },
  invalid_code: {
    status: 422,
    meaning: 'The code that you chose is not 4 to 10 digits.',
    cause: 'The field "code" is shorter or longer than allowed, or has characters other than 0 to 9.',
    remedy: 'Send 4 to 10 digits as a string, or leave the field out and let the service choose the code.',
  },
  invalid_locale: {
    status: 422,
    meaning: 'The locale is not supported.',
    cause: 'The field "locale" is neither "pt-BR" nor "en".',
    remedy: 'Use one of these two values, or leave the field out to use the language of the account.',
  },
  invalid_idempotency_key: {
    status: 422,
    meaning: 'The Idempotency-Key is too long.',
    cause:
      'After outer spaces and tabs are removed, it has more than 255 bytes. Bytes count, not characters.',
    remedy: 'Use a shorter key, for example a UUID.',
  },
  rate_limited: {
    status: 429,
    meaning: 'A limit was reached: no send can be created now.',
    cause:
      'A creation limit of the account, the application or this recipient was reached; or this recipient has as many active codes as may be guessed at, or too many wrong codes in a row were given for it; or hardly any code sent to its country was verified, which looks like fraud; or a ceiling of units of the account is reached for the day or the month; or a limit of accounts that never had credits is reached. The detail says which.',
    remedy:
      'Wait for the seconds in the Retry-After header, then repeat the same key and body. After too many wrong codes, a right code for a send that is still open ends the wait. An admin of the account sees and changes what refused the request in the dashboard, under Protection, and frees a recipient there.',
  },
  internal_error: {
    status: 500,
    meaning: 'Something failed inside the service.',
    cause: 'The fault is ours, not in your request.',
    remedy:
      'When creating a send, retry a few times with growing delays, with the same key and body. Do not repeat a verification automatically: the code may have been used up. Quote the X-Request-Id when you report it.',
  },
  not_found: {
    status: 404,
    meaning: 'There is nothing at this address.',
    cause: 'The path is mistyped or lacks the /v1 prefix.',
    remedy: 'Compare the path with the reference.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The address exists, but not for this method.',
    cause: 'The request used, for example, GET where only POST is offered.',
    remedy: 'Use a method that the Allow header of the answer lists.',
  },
  bad_request: {
    status: 400,
    meaning: 'The request is not well-formed HTTP.',
    cause: 'Its framing, its request line or a header is broken, or a header that may come once came twice.',
    remedy: 'Use a standard HTTP client, and look at proxies that rewrite requests on the way.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request did not arrive in time.',
    cause: 'Its headers or its body came too slowly or stopped part of the way.',
    remedy: 'Check the network and repeat the request with the same Idempotency-Key and body.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers of the request are too large.',
    cause: 'The address and all headers together are longer than 8 KiB.',
    remedy: 'Remove headers that the service does not need, such as cookies.',
  },
  forbidden: {
    status: 403,
    meaning: 'The webhook handshake was refused.',
    cause: 'The mode is not "subscribe", or the verify token is not the configured one.',
    remedy:
      'Enter the same verify token in the provider’s webhook settings and in the service’s configuration.',
  },
  invalid_signature: {
    status: 401,
    meaning: 'The webhook is not signed by the provider.',
    cause: 'The signature header is missing, malformed, or does not match the bytes of the body.',
    remedy:
      'Check that the configured app secret is the one of the provider’s app, and that no proxy alters the body.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The webhook body is larger than 3 MB.',
    cause: 'The body exceeds the most that the provider documents for one webhook.',
    remedy: 'Nothing to do for genuine webhooks, which are smaller; look at what else calls this address.',
  },
  too_busy: {
    status: 503,
    meaning: 'Too many webhooks arrive at the same time.',
    cause: 'All memory for incoming webhooks is in use, and no more may wait for it.',
    remedy:
      'Nothing to do for the provider, which repeats its webhooks; look at what else calls this address.',
  },
} as const satisfies Record<string, ProblemEntry>;

/** A stable code that clients branch on. The codes of the specification's section 7 come first, then ours. */
export type ProblemCode = keyof typeof TABLE;

export const PROBLEMS: Readonly<Record<ProblemCode, ProblemEntry>> = TABLE;

export interface ProblemDetails {
  /** One sentence for people, which quotes nothing that the client sent. */
  readonly detail?: string;
  /** A message for each faulty field, by the field's name. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Whole seconds until the same request may be repeated; only with `rate_limited`. */
  readonly retryAfterSeconds?: number;
}

/** A refusal with a stable code. Its HTTP status is `PROBLEMS[code].status`; its message is the bare code. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly detail: string | undefined;
  readonly errors: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ProblemCode,
    details: ProblemDetails = {},
  ) {
    super(code);
    this.detail = details.detail;
    this.errors = details.errors;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
