import { config, knownError, recipient, retry, unknown, type Failure, type Fault } from './errorTable.js';
import { errorNumber, members } from './json.js';

/** An error that Meta returned. `httpStatus` is null for an error in a receipt. */
export interface ProviderError {
  httpStatus: number | null;
  /** `error.code`, or null if there is none. */
  code: number | null;
  /** `error.error_subcode`, or null. */
  subcode: number | null;
  /** `error.is_transient`: Meta reports that the error is temporary. */
  isTransient: boolean;
}

/** Returns the error in a response or a receipt. @param httpStatus as in `ProviderError` */
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
 * Returns the meaning of an error for a send. A known code takes precedence over the HTTP status: code 3 comes with a 500 and must not be
 * retried, code 130429 comes with a 400 and must be retried. Without a known code, the status decides. A temporary error (HTTP 408, 425,
 * 429 and 5xx, and errors that Meta marks as transient) is retried even if its code is a refusal of the message.
 *
 * `retryAfterSeconds` is always null here: it is in the response's headers, not in the error.
 */
export function classifyError(error: ProviderError): Failure {
  const { httpStatus, code, subcode } = error;
  const known = knownError(code, subcode)?.fault ?? faultWithoutKnownCode(httpStatus, code !== null);
  return { ...faultNow(error, known), errorCode: code };
}

/** Returns the fault of an error with this meaning, which its HTTP status can make temporary. */
function faultNow(error: ProviderError, known: Fault): Fault {
  const isUnlimited = known.kind === 'retry' && known.throttled === 'none';
  if (error.httpStatus === 429 && (isRefusal(known) || isUnlimited))
    return retry('The provider asked to slow down.', 'sender');
  return isTemporary(error) && isRefusal(known)
    ? retry('The provider refused the message for a temporary reason.')
    : known;
}

function isTemporary({ httpStatus, isTransient }: ProviderError): boolean {
  return (
    isTransient || (httpStatus !== null && (httpStatus === 408 || httpStatus === 425 || httpStatus >= 500))
  );
}

/** Returns whether a fault concerns, or may concern, only the message. */
function isRefusal(fault: Fault): boolean {
  return fault.kind === 'recipient' || (fault.kind === 'config' && fault.scope === 'request');
}

function faultWithoutKnownCode(httpStatus: number | null, hasCode: boolean): Fault {
  // A failure in a receipt is always final, and an unknown code does not show an operator what to fix.
  if (httpStatus === null) return recipient('The provider reported that the message was not delivered.');
  if (httpStatus < 300) return unknown('The provider responded without a message id.');
  if (httpStatus < 400)
    return config('token', 'The provider returned a redirect, which Onecode does not follow.');
  if (hasCode) return retry('The provider gave an unknown error code.');
  if (httpStatus === 401 || httpStatus === 403 || httpStatus === 404)
    return config('token', 'The provider denied access without an error code.');
  // The server that answered may have forwarded the request.
  if (httpStatus === 408) return unknown('The request timed out before it reached the provider.');
  // Meta's own refusals have a code, so a server in front of Meta must have answered.
  if (httpStatus < 500) return retry('The request was refused without an error code.');
  // After a 503, the request was not processed (RFC 9110, 15.6.4). After other server errors, it may have been processed.
  if (httpStatus === 503) return retry('The provider asked to retry later.', 'sender');
  return unknown('The provider failed without an error code.');
}
