import { config, knownError, recipient, retry, UNKNOWN_SENDER, unknown, type Failure } from './errorTable.js';
import { errorNumber, members } from './json.js';

/** An error of the provider. `httpStatus` is null for an error in a receipt. */
export interface ProviderError {
  httpStatus: number | null;
  /** `error.code`, or null where there was none. */
  code: number | null;
  /** `error.error_subcode`, or null. */
  subcode: number | null;
  /** `error.is_transient`: the provider says that it passes by itself. */
  isTransient: boolean;
}

/** The error in an answer or a receipt. @param httpStatus as in `ProviderError` */
export function providerErrorOf(httpStatus: number | null, error: unknown): ProviderError {
  const { code, error_subcode: subcode, is_transient: isTransient } = members(error);
  return {
    httpStatus,
    code: errorNumber(code),
    subcode: errorNumber(subcode),
    isTransient: isTransient === true,
  };
}

/**
 * What an error of the provider means for a send. A known code decides, whatever the HTTP status: 3 comes with a 500 and must not be
 * retried, 130429 comes with a 400 and must be. Otherwise the status decides. What passes by itself refuses no message, whatever its
 * code: HTTP 408, 425, 429 and 5xx, and what the provider calls transient.
 *
 * `retryAfterSeconds` is always null here: the answer's headers have it, not the error.
 */
export function classifyError(error: ProviderError): Failure {
  const { httpStatus, code, subcode } = error;
  // 100 is a fault of the request, but with subcode 33 it means: no such phone number id for this token.
  const known = code === 100 && subcode === 33 ? UNKNOWN_SENDER : knownError(code);
  const failure =
    known?.failureOf(code) ?? (code === null ? withoutCode(httpStatus) : withUnknownCode(httpStatus, code));
  if (
    httpStatus === 429 &&
    (isRefusal(failure) || (failure.kind === 'retry' && failure.throttled === 'none'))
  )
    return retry('The provider asked to slow down.', 'sender')(code);
  return passes(error) && isRefusal(failure)
    ? retry('The provider refused the message for a reason that passes.')(code)
    : failure;
}

function passes({ httpStatus, isTransient }: ProviderError): boolean {
  return (
    isTransient || (httpStatus !== null && (httpStatus === 408 || httpStatus === 425 || httpStatus >= 500))
  );
}

/** Whether a failure is, or may be, about the message alone. */
function isRefusal(failure: Failure): boolean {
  if (failure.kind === 'retry') return failure.isRefusal === true;
  return failure.kind === 'recipient' || (failure.kind === 'config' && failure.scope === 'request');
}

const REDIRECT = config('token', 'The provider answered with a redirect, which is not followed.');
const NO_DELIVERY = recipient('The provider reported that the message was not delivered.');
const NO_MESSAGE_ID = unknown('The provider answered without a message id.');

function withoutCode(httpStatus: number | null): Failure {
  if (httpStatus === null) return NO_DELIVERY(null);
  if (httpStatus === 401 || httpStatus === 403 || httpStatus === 404) {
    return config('token', 'The provider denied access without an error code.')(null);
  }
  if (isRedirect(httpStatus)) return REDIRECT(null);
  // Whoever answered may have passed the request on.
  if (httpStatus === 408) return unknown('The request timed out before the provider.')(null);
  // The provider's own refusals have a code: this is a server in front of it.
  if (httpStatus >= 400 && httpStatus < 500)
    return retry('The request was refused without an error code.')(null);
  // The request was not processed (RFC 9110, 15.6.4), unlike after another error of the server.
  if (httpStatus === 503) return retry('The provider asked to come back later.', 'sender')(null);
  if (httpStatus >= 500) return unknown('The provider failed without an error code.')(null);
  return NO_MESSAGE_ID(null);
}

function withUnknownCode(httpStatus: number | null, code: number): Failure {
  // The failure in a receipt is final whatever its code, and an unknown code does not say what an operator could fix.
  if (httpStatus === null) return NO_DELIVERY(code);
  if (isRedirect(httpStatus)) return REDIRECT(code);
  if (httpStatus < 400) return NO_MESSAGE_ID(code);
  return {
    kind: 'retry',
    errorCode: code,
    reason: 'The provider gave an unknown error code.',
    throttled: 'none',
    retryAfterSeconds: null,
    isRefusal: true,
  };
}

function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus <= 399;
}
