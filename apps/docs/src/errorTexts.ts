import type { ProblemCode } from '@onecode/domain';

/** The cause and the remedy of each problem, for the page about errors. */
export const ERROR_TEXTS: Readonly<Record<ProblemCode, { cause: string; remedy: string }>> = {
  missing_credentials: {
    cause: 'The Authorization header is missing, is empty, or uses a scheme other than Bearer.',
    remedy: 'Send "Authorization: Bearer <API_KEY>" with every call, over HTTPS and from your server only.',
  },
  invalid_api_key: {
    cause: 'The key is malformed, was never issued, was revoked or has expired, or its account is suspended.',
    remedy:
      'Check that you copied the whole key. If it was revoked or has expired, create a new one in the dashboard. If the detail reports a suspended account, ask the operator.',
  },
  insufficient_credits: {
    cause: 'A live send needs one unit of the free quota, or else one credit. Test sends need neither.',
    remedy:
      'Ask the operator to add credits to the account, then send the same request again. Do not retry automatically.',
  },
  send_not_found: {
    cause: 'The id is mistyped or belongs to another account, or the send was deleted.',
    remedy: 'Use the id from the response to the create request, with a key of the same account.',
  },
  idempotency_key_reused: {
    cause: 'The bodies differ in at least one byte; white space and the order of fields count.',
    remedy: 'Retry a request with exactly the same bytes, or use a new key for a new send.',
  },
  invalid_json: {
    cause:
      'The body is not valid JSON in UTF-8, is not an object, is larger than 64 KiB, has a field that is unknown, repeated or of the wrong type, or lacks "code" when verifying.',
    remedy: 'Send one JSON object with the documented fields only, each at most once, with string values.',
  },
  invalid_recipient: {
    cause:
      'The field "to" is missing, lacks the + and the country code, or is not a possible number. Or the account does not send to the number’s country, or to satellite and premium-rate numbers. The detail names the reason.',
    remedy:
      'Send the number in E.164 form, for example +5511961234567. Log the detail: if it names a country or range, the number may be right, but the account does not send there. In that case, ask the user for another number. An admin of the account can allow countries and ranges in the dashboard, under Protection. Credits end the limits of a trial account.',
  },
  channel_unavailable: {
    cause: 'The field "to" contains a valid e-mail address.',
    remedy: 'Ask the user for a phone number, and send the code to it.',
  },
  invalid_code: {
    cause: 'The field "code" is shorter or longer than allowed, or has characters other than 0 to 9.',
    remedy: 'Send 4 to 10 digits as a string, or omit the field to let the service choose the code.',
  },
  invalid_locale: {
    cause: 'The field "locale" is neither "pt-BR" nor "en".',
    remedy: 'Use one of these two values, or omit the field to use the language of the account.',
  },
  invalid_idempotency_key: {
    cause:
      'The key has more than 255 bytes after trimming spaces and tabs. The limit counts bytes, not characters.',
    remedy: 'Use a shorter key, for example a UUID.',
  },
  rate_limited: {
    cause:
      'One of these limits was reached: the send limit of the account, the application or this recipient; the number of active codes or of wrong codes in a row for this recipient; the fraud breaker, because hardly any code sent to the recipient’s country was verified; a daily or monthly ceiling of units; or a limit for accounts that never had credits. The detail names the limit.',
    remedy:
      'Wait the number of seconds in the Retry-After header, then retry with the same key and body. After too many wrong codes, a right code for an active send ends the wait. In the dashboard, an admin of the account can change most limits under Protection, and reset a recipient under Blocked recipients.',
  },
  internal_error: {
    cause: 'A fault in the service, not in your request.',
    remedy:
      'Retry a create request a few times, with growing delays and the same key and body. Do not retry a verification automatically: the code may have been used up. Include the X-Request-Id when you report the error.',
  },
  not_found: {
    cause:
      'The path is mistyped or lacks the /v1 prefix; the base URL ends in /v1, so that the path has it twice; /v1/send/{id} is not followed by /status or /verify; or the id is empty, because a variable was not set.',
    remedy: 'Compare the path with the API reference.',
  },
  method_not_allowed: {
    cause: 'The request used, for example, GET where only POST is allowed.',
    remedy: 'Use a method from the Allow header of the response.',
  },
  bad_request: {
    cause:
      'The framing, the request line or a header is malformed, or a header that is allowed only once is repeated.',
    remedy: 'Use a standard HTTP client, and check for proxies that rewrite requests.',
  },
  request_timeout: {
    cause: 'The headers or the body arrived too slowly or were cut off.',
    remedy: 'Check the network, and retry the request with the same Idempotency-Key and body.',
  },
  headers_too_large: {
    cause: 'The address and all headers together are longer than 8 KiB.',
    remedy: 'Remove headers that the service does not need, such as cookies.',
  },
  forbidden: {
    cause: 'The mode is not "subscribe", or the verify token is not the configured one.',
    remedy:
      'Enter the same verify token in the provider’s webhook settings and in the service’s configuration.',
  },
  invalid_signature: {
    cause: 'The signature header is missing, malformed, or does not match the bytes of the body.',
    remedy:
      'Check that the configured secret is that of the provider’s app, and that no proxy alters the body.',
  },
  payload_too_large: {
    cause: 'The body exceeds the maximum that the provider documents for one webhook.',
    remedy: 'Genuine webhooks are smaller and need no action. Check what else calls this address.',
  },
  too_busy: {
    cause: 'Too many reports of the account’s own Meta app are still waiting to be applied.',
    remedy:
      'The provider retries its webhooks, so they need no action. If this lasts, contact the operator: the workers are behind.',
  },
};
