import type { AttemptOutcome } from '@onecode/domain';
import {
  config,
  isForOperator,
  knownError,
  PORTFOLIO_DROPPED,
  recipient,
  REMEDIES,
  retry,
  unknown,
  UNKNOWN_SENDER,
  type Failure,
  type Fault,
  type RemedyName,
} from './errorTable.js';
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
 * retried, code 130429 comes with a 400 and must be retried. Without a code, the status decides. An unknown code with a 4xx or 5xx is
 * retried; in a receipt, it is a failure of this message. A temporary error (HTTP 408, 425, 429 and 5xx, and errors that Meta marks as
 * transient) is retried even if its code is a refusal of the message.
 *
 * `retryAfterSeconds` is always null here: it is in the response's headers, not in the error.
 */
export function classifyError(error: ProviderError): Failure {
  const { httpStatus, code, subcode } = error;
  const known = knownError(code, subcode)?.fault ?? faultWithoutKnownCode(httpStatus, code !== null);
  return { ...faultNow(error, known), errorCode: code };
}

/** Returns the fault of an error with this meaning, which its HTTP status can make temporary. */
function faultNow({ httpStatus, isTransient }: ProviderError, known: Fault): Fault {
  const status = httpStatus ?? 0;
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
  if (httpStatus < 400)
    return config('token', 'The provider returned a redirect, which Onecode does not follow.');
  if (hasCode) return retry('The provider gave an unknown error code.');
  if (httpStatus === 401 || httpStatus === 403 || httpStatus === 404)
    return config('token', 'The provider denied access without an error code.');
  // Meta's own refusals have a code, so a server in front of Meta must have answered. After a 408, it may have forwarded the request.
  if (httpStatus < 500 && httpStatus !== 408) return retry('The request was refused without an error code.');
  // After a 503, the request was not processed (RFC 9110, 15.6.4). After other server errors, it may have been processed.
  if (httpStatus === 503) return retry('The provider asked to retry later.', 'sender');
  return unknown('The provider failed without an error code.');
}

/** A sentence in English, and the key of its translations. */
export interface NamedText {
  name: string;
  english: string;
}

export interface Explanation {
  /** What happened to the message, written for the integrator. */
  meaning: NamedText;
  /** What to do. */
  remedy: NamedText;
  /** Whether only operators can follow the remedy. */
  isForOperator: boolean;
}

type FailureKind = Exclude<AttemptOutcome, 'accepted'>;

/** The explanations of attempts without a known code, by outcome. */
const BY_OUTCOME: Readonly<Record<FailureKind, readonly [meaning: string, RemedyName]>> = {
  retry: ['WhatsApp did not accept the message, for a reason that may pass.', 'retried'],
  unknown: [
    'WhatsApp’s response was lost, so the message may or may not have been sent.',
    'wait_for_receipt',
  ],
  sender: ['WhatsApp did not let this sender send.', 'check_number'],
  recipient: ['WhatsApp reported that it did not deliver the message.', 'other_number'],
  config: ['WhatsApp refused the message because of how the sender is set up.', 'check_sender'],
};

/**
 * Returns the meaning and the remedy of one of Meta's errors. Without a known code, it explains the outcome of the attempt. The codes are
 * Meta's ("Error codes" of the WhatsApp Business Platform), the sentences are not.
 *
 * @param code Meta's error code, or null if there is none
 * @param outcome how the attempt ended; `recipient` for a receipt that reports a failure
 */
export function explainError(code: number | null, outcome: FailureKind): Explanation {
  const known = findKnown(code, outcome);
  return known === undefined
    ? explanation(outcome, ...BY_OUTCOME[outcome])
    : explanation(known.name, known.fault.reason, known.remedy);
}

/** Returns the row of a code. The outcome distinguishes the two meanings of 100 and of 135000. */
function findKnown(code: number | null, outcome: FailureKind): ReturnType<typeof knownError> {
  if (code === 100 && outcome === 'sender') return UNKNOWN_SENDER;
  return code === 135000 && outcome === 'config' ? PORTFOLIO_DROPPED : knownError(code);
}

const explanation = (name: string, meaning: string, remedy: RemedyName): Explanation => ({
  meaning: { name, english: meaning },
  remedy: { name: remedy, english: REMEDIES[remedy] },
  isForOperator: isForOperator(remedy),
});
