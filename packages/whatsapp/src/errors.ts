import {
  config,
  knownError,
  recipient,
  retry,
  unknown,
  type Failure,
  type FailureKind,
  type Fault,
  type KnownError,
} from './errorTable.js';
import { errorNumber, members } from './json.js';

/**
 * Returns the meaning of an error for a send. A known code takes precedence over the HTTP status: code 3 comes with a 500 and must not be
 * retried, code 130429 comes with a 400 and must be retried. Without a code, the status decides. An unknown code is retried; in a receipt,
 * it is a failure of this message. A temporary error (HTTP 408, 425, 429 and 5xx, and errors that Meta marks as transient) is retried even
 * if its code is a refusal of the message.
 *
 * `retryAfterSeconds` is always null here: it is in the response's headers, not in the error.
 *
 * @param httpStatus null for an error in a receipt
 * @param error the error in Meta's JSON
 */
export function classifyError(httpStatus: number | null, error: unknown): Failure {
  const { code, error_subcode: subcode, is_transient: isTransient } = members(error);
  const errorCode = errorNumber(code);
  const known = knownError(errorCode, errorNumber(subcode));
  const fault = known?.fault ?? faultWithoutKnownCode(httpStatus, errorCode !== null);
  return { ...faultNow(fault, httpStatus ?? 0, isTransient === true), errorCode };
}

/** Returns the fault of an error with this meaning, which its HTTP status can make temporary. */
function faultNow(known: Fault, status: number, isTransient: boolean): Fault {
  // It concerns, or may concern, only the message.
  const isRefusal = known.kind === 'recipient' || (known.kind === 'config' && known.scope === 'request');
  const isUnlimited = known.kind === 'retry' && known.throttled === 'none';
  if (status === 429 && (isRefusal || isUnlimited))
    return retry('The provider asked to slow down.', 'sender');
  const isTemporary = isTransient || status === 408 || status === 425 || status >= 500;
  return isTemporary && isRefusal ? retry('The provider refused the message for a temporary reason.') : known;
}

function faultWithoutKnownCode(httpStatus: number | null, hasCode: boolean): Fault {
  // A failure in a receipt is always final, and an unknown code does not show an operator what to fix.
  if (httpStatus === null) return recipient('The provider reported that the message was not delivered.');
  if (httpStatus < 300) return unknown('The provider responded without a message id.');
  if (hasCode) return retry('The provider gave an unknown error code.');
  if (httpStatus < 400 || httpStatus === 401 || httpStatus === 403 || httpStatus === 404)
    return config('token', 'The provider denied access or redirected the request, without an error code.');
  // Meta's own refusals have a code, so a server in front of Meta must have answered. After a 408, it may have forwarded the request.
  if (httpStatus < 500 && httpStatus !== 408) return retry('The request was refused without an error code.');
  // After a 503, the request was not processed (RFC 9110, 15.6.4). After other server errors, it may have been processed.
  if (httpStatus === 503) return retry('The provider asked to retry later.', 'sender');
  return unknown('The provider failed without an error code.');
}

/** The explanation of an error, in English. */
export interface Explanation {
  /** The key of its translation. */
  name: string;
  /** What happened to the message, written for the integrator. */
  meaning: string;
  /** What to do. */
  remedy: string;
  /** Whether only operators can follow the remedy. */
  isForOperator: boolean;
}

/**
 * Returns the meaning and the remedy of one of Meta's errors. Without a known code, it explains the outcome of the attempt. The outcome
 * also distinguishes the two meanings of 100 and of 135000.
 *
 * @param code Meta's error code, or null if there is none
 * @param outcome how the attempt ended; `recipient` for a receipt that reports a failure
 */
export function explainError(code: number | null, outcome: FailureKind): Explanation {
  const key = code === 135000 && outcome === 'config' ? 'portfolio_held' : code;
  const known = knownError(key, outcome === 'sender' ? 33 : null) ?? knownError(outcome);
  const { name, fault, remedy } = known as KnownError;
  const isThrottled = fault.kind === 'retry' && ['sender', 'business'].includes(fault.throttled);
  const isForOperator = fault.kind === 'sender' || fault.kind === 'config' || isThrottled;
  return { name, meaning: fault.reason, remedy, isForOperator };
}
