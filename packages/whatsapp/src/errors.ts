import { PORTFOLIO_HELD, type AttemptOutcome, type FaultScope, type Outcome } from '@onecode/domain';
import { errorNumber, members } from './json.js';

type Failure = Exclude<Outcome, { kind: 'accepted' }>;

type WithoutCode<One> = One extends unknown ? Omit<One, 'errorCode'> : never;

/** The meaning of an error for a message, without Meta's code. */
type Fault = WithoutCode<Failure>;

export const retry = (
  reason: string,
  throttled: 'none' | 'pair' | 'sender' | 'business' = 'none',
): Fault => ({
  kind: 'retry',
  reason,
  throttled,
  retryAfterSeconds: null,
});
export const unknown = (reason: string): Fault => ({ kind: 'unknown', reason });
const sender = (reason: string): Fault => ({ kind: 'sender', reason });
const recipient = (reason: string): Fault => ({ kind: 'recipient', reason });
const config = (scope: FaultScope, reason: string): Fault => ({ kind: 'config', reason, scope });

/** How an attempt failed. */
type FailureKind = Exclude<AttemptOutcome, 'accepted'>;

/** Meta's code, or the outcome of an attempt without a known code. `portfolio_held`: 135000 of a message that was held (`afterHold`). */
type ErrorKey = number | FailureKind | 'portfolio_held';

/** An error with its explanation. */
interface KnownError {
  /** The key of the translations: the first of its keys. */
  name: string;
  /** Its `reason` is the error's meaning, written for the integrator. */
  fault: Fault;
  /** What to do, written for the person who can do it. */
  remedy: string;
}

interface Row extends Omit<KnownError, 'name'> {
  keys: readonly ErrorKey[];
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/**
 * The meaning of each error for a send. Source of the codes: Meta, "Error codes" of the WhatsApp Business Platform, without the codes of
 * flows, media and the Marketing Messages API, which Onecode never calls. 104, 131030 and 137000 are not in that table but occur in
 * practice. The sentences are not Meta's.
 */
const ROWS: readonly Row[] = [
  // The token and its permissions. Code 3 comes with HTTP 500 but is not temporary. Source of 102: Meta, "Handling errors".
  {
    keys: [190, 0, 102, 104],
    fault: config('token', 'The sender’s access token has expired or is not valid.'),
    remedy: 'Give the sender a new access token. It sends again when Meta accepts the token.',
  },
  {
    keys: [200, 3, 10, ...range(201, 299), 131005],
    fault: config('token', 'The sender’s access token lacks a permission.'),
    remedy:
      'In Meta’s business settings, give the token’s system user full control of this business account, with the permissions whatsapp_business_management and whatsapp_business_messaging.',
  },
  // The business account.
  {
    keys: [131031, 368, 131064],
    fault: config('business', 'WhatsApp has restricted, limited or locked the sender’s business account.'),
    remedy:
      'Open the account quality page of the business in Meta’s Business Suite, do what it asks for or request a review, and check the categories of the templates; meanwhile, use senders of another business.',
  },
  {
    keys: [131042, 131044, 134011],
    fault: config('business', 'The sender’s business account has a payment problem.'),
    remedy:
      'Check the payment method, credit line, currency, time zone and terms of the WhatsApp account in Meta’s billing settings.',
  },
  {
    keys: ['portfolio_held'],
    fault: config('portfolio', PORTFOLIO_HELD),
    remedy:
      'In WhatsApp Manager, do what it asks of the business portfolio and lift the pause of its messages; meanwhile, use senders of another portfolio.',
  },
  {
    keys: [130497],
    fault: config('country', 'The sender’s business may not message numbers in this country.'),
    remedy: 'Verify the business with Meta, or add a sender of a business that may message this country.',
  },
  // The app.
  {
    keys: [131030],
    fault: config('app', 'The sender is a test number and may message only listed numbers.'),
    remedy: 'Use a production number, or add the recipient to the list in Meta’s app dashboard.',
  },
  // Limits. 4 and 341 are limits of the app, which all of its business accounts share. The others are limits of a business account or its
  // token. Another sender of the same account would not help. Source of 17, 32, 341, 613 and 80000 to 80014: Meta, "Graph API: Rate limits"
  // and "Handling errors".
  {
    keys: [80_007, 4, 17, 32, 341, 613, ...range(80_000, 80_014)],
    fault: retry(
      'The app or the business account had made too many calls, so WhatsApp did not accept this one.',
      'business',
    ),
    remedy:
      'This send is retried automatically. If it keeps happening, check the app’s rate limits in Meta’s dashboard, or add senders of another business account.',
  },
  {
    keys: [130429],
    fault: retry('The sender had reached its limit of messages per second.', 'sender'),
    remedy:
      'This send is retried automatically. If it keeps happening, lower the sender’s throughput to what Meta grants, or add senders.',
  },
  {
    keys: [131056],
    fault: retry('The sender had messaged this number too often in a short time.', 'pair'),
    remedy: 'This send is retried automatically. Make people wait longer between two codes.',
  },
  // The platform. Meta describes 135000 only as an error of the request. It is as vague as code 1: another attempt may succeed, so it is
  // retried up to the limit of attempts. Failing the send or blocking the sender would be worse.
  {
    keys: [131000, 1, 2, 131016, 133004, 135000, 'retry'],
    fault: retry('WhatsApp had an internal error, was unavailable or gave no reason.'),
    remedy: 'The send is retried automatically. If this happens to many sends, check Meta’s status page.',
  },
  {
    keys: ['unknown'],
    fault: unknown('WhatsApp’s response was lost, so the message may or may not have been sent.'),
    remedy: 'Wait: a receipt will report the result, or the same code is sent again.',
  },
  {
    keys: ['config', 'sender'],
    fault: config('token', 'WhatsApp refused the message because of how the sender is set up.'),
    remedy: 'Check the sender’s token, business account and template in Meta’s business settings.',
  },
  // The sender. The codes from 133005 to 133016 are answers to its registration.
  {
    keys: [33, 803],
    fault: sender('The sender’s number was deleted, or its id does not exist for the access token.'),
    remedy:
      'Check the ids of the phone number and the business account, and whether the token’s system user has access to this business account. If the number was deleted, replace the sender.',
  },
  {
    keys: [131037],
    fault: sender('The display name of the sender is not approved.'),
    remedy: 'Have the display name approved in WhatsApp Manager.',
  },
  {
    keys: [131045, 133000, 133006, 133010],
    fault: sender('The sender’s number is not registered correctly, or must be verified again.'),
    remedy: 'Check the number in WhatsApp Manager, verify it if it asks for that, and register it again.',
  },
  {
    keys: [131048],
    fault: sender('The sender is limited because too many people block or report it.'),
    remedy:
      'Check the number’s quality in WhatsApp Manager, and find out who requests codes without verifying them; other senders send meanwhile.',
  },
  {
    keys: [131057, 2_494_100],
    fault: sender('The sender is under maintenance at WhatsApp.'),
    remedy: 'Wait a few minutes; other senders send meanwhile.',
  },
  {
    keys: [133005],
    fault: sender('The two-step PIN of the sender’s number is wrong.'),
    remedy: 'Register the number with its two-step PIN, or reset the PIN in WhatsApp Manager.',
  },
  {
    keys: [133016, 133008, 133009, 133015],
    fault: sender(
      'The sender’s number cannot be registered yet: it was just deleted, or registered or given a PIN too often.',
    ),
    remedy: 'Wait for the time that Meta requires (up to 72 hours), then register the number.',
  },
  // The recipient.
  {
    keys: [130403],
    fault: recipient('The sender’s business has blocked this number.'),
    remedy: 'If it was blocked by mistake, ask the operator to unblock it in WhatsApp.',
  },
  {
    // 131050 is about marketing messages, which Onecode never sends.
    keys: ['recipient', 130472, 131050],
    fault: recipient('WhatsApp did not deliver the message, for a reason that concerns only this number.'),
    remedy: 'Ask the person for another number, or contact them in another way.',
  },
  {
    keys: [131021],
    fault: recipient('The recipient is the number that the code is sent from.'),
    remedy: 'Send the code to the person’s own number.',
  },
  {
    keys: [131026],
    fault: recipient(
      'WhatsApp could not deliver to this number: it has no WhatsApp account, uses a very old version, or its owner has not accepted WhatsApp’s terms.',
    ),
    remedy:
      'Ask the person to check the number or give another one; landlines and numbers without WhatsApp get no code.',
  },
  {
    keys: [131049],
    fault: recipient('WhatsApp chose not to deliver to this number for now.'),
    remedy: 'Wait a day before the next code to this number, or use another number.',
  },
  // Occurs with `recipient_identity_key_hash`, usually in a `failed` receipt.
  {
    keys: [137000],
    fault: recipient(
      'The number has changed hands, or WhatsApp was set up again, since this person last verified a code.',
    ),
    remedy:
      'Confirm in another way, not through this number, that it is still the same person. Then ask the operator to trust the number again.',
  },
  // The request.
  {
    keys: [100, 131008, 131009, 131047, 131051, 131062],
    fault: config('request', 'WhatsApp did not accept a parameter of the message.'),
    remedy:
      'This is a fault of the service itself: report the code and the time to its developers. Other sends are not affected.',
  },
  // The template. Codes from 2388000 concern its creation and its changes, which need no distinction: the setup quotes Meta's message.
  {
    keys: [132000, 132008, 132012, 132018],
    fault: config('template', 'The sender’s template expects other parameters.'),
    remedy:
      'Use an authentication template with one code and one copy-code, one-tap or zero-tap button, and have it approved.',
  },
  {
    keys: [132001],
    fault: config('template', 'The sender’s template does not exist in this language, or is not approved.'),
    remedy:
      'Have the template approved in Portuguese and English, and check the name and language set for the sender.',
  },
  {
    keys: [132007, 131063, 132005, ...range(2_388_000, 2_388_999)],
    fault: config('template', 'WhatsApp does not accept the sender’s template.'),
    remedy:
      'Open the template in WhatsApp Manager, check that its category is authentication, fix what it reports and wait for approval.',
  },
  {
    keys: [132015, 132016],
    fault: config(
      'template',
      'WhatsApp has paused or disabled the sender’s template because of negative feedback.',
    ),
    remedy:
      'In WhatsApp Manager, wait until the pause ends or edit the template. Replace a disabled template. Meanwhile, give the sender another approved template.',
  },
];

const TABLE: ReadonlyMap<ErrorKey, KnownError> = new Map(
  ROWS.flatMap(({ keys, ...row }) => {
    const error = { name: String(keys[0]), ...row };
    return keys.map((key): [ErrorKey, KnownError] => [key, error]);
  }),
);

/** All errors, each once. */
export const KNOWN_ERRORS: readonly KnownError[] = [...new Set(TABLE.values())];

/**
 * Returns the explained error for a code or an outcome, or undefined. Code 100 is a fault of the request. With subcode 33, it means that
 * the token cannot access the node, like code 33. With a subcode from 2388000 to 2388999, it is a fault of the template. Other
 * subcodes do not matter.
 */
export function knownError(key: ErrorKey | null, subcode: number | null = null): KnownError | undefined {
  if (key === null) return undefined;
  if (key !== 100 || subcode === null) return TABLE.get(key);
  if (subcode === 33) return TABLE.get(33);
  return TABLE.get(Math.floor(subcode / 1_000) === 2_388 ? subcode : key);
}

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

/** Returns the fault of an error. Its HTTP status or Meta's mark `is_transient` can make it temporary. */
function faultNow(known: Fault, status: number, isTransient: boolean): Fault {
  // The error concerns, or may concern, only this message.
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
