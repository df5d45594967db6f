// Made from openapi.yaml and domain/problems.ts by `npm run generate`.

/** The service chooses the channel and the sender; a client cannot. */
export interface CreateSend {
  /**
   * A phone number with `+` and country code (E.164). The service removes spaces, hyphens, parentheses, and a zero that is
   * dialled only within the country, as in `+44 (0)7700 900123`. Numbers without `+` and country code, extensions, `tel:`
   * forms and any other text are `invalid_recipient`. So are numbers of a country that the account does not send to. A
   * valid e-mail address is `channel_unavailable`.
   */
  to: string;
  /**
   * Your own code, 4 to 10 digits; leading zeros are kept. If omitted or empty, the service generates 6 random digits in
   * live mode and uses `000000` in test mode.
   */
  code?: string | undefined;
  /** The language of the message; by default, the language of the account. */
  locale?: 'pt-BR' | 'en' | undefined;
}

/** One code for one recipient. All fields are always present; a field that has no value yet is null. */
export interface Send {
  /** Identifies the send in the paths of status and verify. */
  id: string;
  status: DeliveryStatus;
  verification: Verification;
  /** The mode of the application that created the send. */
  mode: 'test' | 'live';
  /** `whatsapp` for real delivery, `sandbox` in test mode, null until it has been chosen. */
  channel: 'whatsapp' | 'sandbox' | null | (string & {});
  /** The number that sends the message (E.164). Null until it has been chosen, and always in test mode. */
  from: string | null;
  /** The deadline of the code, by default 10 minutes after creation. Rely on this field. */
  expires_at: string;
  /** When the send was created. */
  created_at: string;
  /** When the provider accepted the message. */
  sent_at: string | null;
  /** When delivery was confirmed, if a receipt arrived. */
  delivered_at: string | null;
  /** When reading was confirmed, if a receipt arrived. */
  read_at: string | null;
  /** When the code was verified. */
  verified_at: string | null;
  /** When delivery failed. */
  failed_at: string | null;
  /**
   * Why delivery failed; null unless `status` is `failed`.
   *
   * - `expired_before_delivery`: the deadline passed, or the code was verified or locked, before the message could be sent.
   * - `attempts_exhausted`: the provider did not accept the message in any attempt.
   * - `rejected_by_provider`: the provider rejected the message permanently.
   */
  failure_reason:
    | 'expired_before_delivery'
    | 'attempts_exhausted'
    | 'rejected_by_provider'
    | null
    | (string & {});
}

/**
 * The state of the delivery. It never moves back.
 *
 * - `queued`: accepted and waiting for its turn or for a sender, at most until the code expires.
 * - `sending`: an attempt to deliver it is in progress.
 * - `sent`: the provider accepted it. Receipts can be late or missing, so a send may stay `sent`.
 * - `delivered`: the provider confirmed delivery.
 * - `read`: the provider confirmed reading.
 * - `failed`: delivery failed; see `failure_reason`. The unit of a live send was refunded. If its code is verified after
 *   all, the unit is charged again.
 */
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed';

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
];

/**
 * The state of the code, independent of delivery.
 *
 * - `pending`: it can be verified.
 * - `verified`: it was used. It stays `verified` after the deadline.
 * - `expired`: the deadline passed before the code was verified.
 * - `locked`: five wrong codes were tried.
 */
export type Verification = 'pending' | 'verified' | 'expired' | 'locked';

export const VERIFICATIONS: readonly Verification[] = ['pending', 'verified', 'expired', 'locked'];

export interface VerifyResult {
  /** True only in the single call that verifies the code. */
  valid: boolean;
  verification: Verification;
  /** The number of wrong codes still allowed. 0 after verification has ended, including after success. */
  attempts_left: number;
}

export interface SignupSettings {
  /** Free sends that a new account gets today. */
  free_sends: number;
}

/** An error. Branch on `code` alone. */
export interface Problem {
  /** The page that explains the code, its cause and its remedy. */
  type: string;
  /** The reason phrase of the HTTP status. */
  title: string;
  /** The HTTP status. */
  status: number;
  code: ProblemCode;
  /** A sentence for developers. */
  detail?: string | undefined;
  /** A message for each invalid field, by the field’s name. */
  errors?: Readonly<Record<string, string>> | undefined;
}

/** A stable name for the error. */
export type ProblemCode =
  | 'missing_credentials'
  | 'invalid_api_key'
  | 'insufficient_credits'
  | 'send_not_found'
  | 'idempotency_key_reused'
  | 'invalid_json'
  | 'invalid_recipient'
  | 'channel_unavailable'
  | 'invalid_code'
  | 'invalid_locale'
  | 'invalid_idempotency_key'
  | 'rate_limited'
  | 'internal_error'
  | 'not_found'
  | 'method_not_allowed'
  | 'bad_request'
  | 'request_timeout'
  | 'headers_too_large'
  | 'forbidden'
  | 'invalid_signature'
  | 'payload_too_large'
  | 'too_busy'
  | (string & {});

/** The HTTP status and the meaning of each problem; the meaning is the detail of one that has no other. */
export const PROBLEMS = {
  missing_credentials: [401, 'The request carries no Bearer credential.'],
  invalid_api_key: [401, 'The API key is not valid.'],
  insufficient_credits: [402, 'The account has neither free quota nor credits left.'],
  send_not_found: [404, 'The account of this key has no send with this id.'],
  idempotency_key_reused: [409, 'The application has already used this Idempotency-Key with another body.'],
  invalid_json: [422, 'The body is not the JSON that the operation expects.'],
  invalid_recipient: [422, 'The recipient is not a valid phone number.'],
  channel_unavailable: [422, 'The recipient is an e-mail address, and codes are not delivered by e-mail.'],
  invalid_code: [422, 'The code that you chose is not 4 to 10 digits.'],
  invalid_locale: [422, 'The locale is not supported.'],
  invalid_idempotency_key: [422, 'The Idempotency-Key is too long.'],
  rate_limited: [429, 'A limit was reached: no send can be created now.'],
  internal_error: [500, 'Something failed inside the service.'],
  not_found: [404, 'There is nothing at this address.'],
  method_not_allowed: [405, 'The address exists, but does not support this method.'],
  bad_request: [400, 'The request is not well-formed HTTP.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  forbidden: [403, 'The webhook handshake was refused.'],
  invalid_signature: [401, 'The webhook is not signed by the provider.'],
  payload_too_large: [413, 'The webhook body is larger than 3 MiB.'],
  too_busy: [503, 'Too many reports of this Meta app are waiting.'],
} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;
