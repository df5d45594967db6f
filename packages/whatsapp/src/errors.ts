import { config, knownError, recipient, retry, UNKNOWN_SENDER, unknown, type Failure } from './errorTable.js';

/** An error of the provider. `httpStatus` is null for an error in a receipt. */
export interface ProviderError {
  httpStatus: number | null;
  /** `error.code`, or null where there was none. */
  code: number | null;
  /** `error.error_subcode`, or null. */
  subcode: number | null;
}

/**
 * What an error of the provider means for a send. A known code decides, whatever the HTTP status: 3 comes with a 500 and must not be
 * retried, 130429 comes with a 400 and must be. Otherwise the status decides.
 *
 * `retryAfterSeconds` is always null here: the answer's headers have it, not the error.
 */
export function classifyError({ httpStatus, code, subcode }: ProviderError): Failure {
  if (code === null) return withoutCode(httpStatus);
  // 100 is a fault of the request, but with subcode 33 it means: no such phone number id for this token.
  const known = code === 100 && subcode === 33 ? UNKNOWN_SENDER : knownError(code);
  return known?.failureOf(code) ?? withUnknownCode(httpStatus, code);
}

const REDIRECT = config('token', 'The provider answered with a redirect, which is not followed.');
const NO_DELIVERY = recipient('The provider reported that the message was not delivered.');
const NO_MESSAGE_ID = unknown('The provider answered without a message id.');

function withoutCode(httpStatus: number | null): Failure {
  if (httpStatus === null) return NO_DELIVERY(null);
  if (httpStatus === 429) return retry('The provider asked to slow down.', 'sender')(null);
  if (httpStatus === 401 || httpStatus === 403 || httpStatus === 404) {
    return config('token', 'The provider denied access without an error code.')(null);
  }
  if (isRedirect(httpStatus)) return REDIRECT(null);
  if (isRefusal(httpStatus)) {
    return config('request', 'The provider refused the request without an error code.')(null);
  }
  // The request was not processed (RFC 9110, 15.6.4), unlike after another error of the server.
  if (httpStatus === 503) return retry('The provider asked to come back later.', 'sender')(null);
  if (httpStatus >= 500) return unknown('The provider failed without an error code.')(null);
  return NO_MESSAGE_ID(null);
}

function withUnknownCode(httpStatus: number | null, code: number): Failure {
  // The failure in a receipt is final whatever its code, and an unknown code does not say what an operator could fix.
  if (httpStatus === null) return NO_DELIVERY(code);
  if (isRedirect(httpStatus)) return REDIRECT(code);
  if (isRefusal(httpStatus)) return config('request', 'The provider gave an unknown error code.')(code);
  if (httpStatus >= 500) return retry('The provider failed with an unknown error code.')(code);
  return NO_MESSAGE_ID(code);
}

function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus <= 399;
}

function isRefusal(httpStatus: number): boolean {
  return httpStatus >= 400 && httpStatus <= 499;
}
