import { PORTFOLIO_HELD, type FaultScope, type Outcome, type ThrottleScope } from '@onecode/domain';
import type { RemedyName } from './remedies.js';

export type Failure = Exclude<Outcome, { kind: 'accepted' }>;

type WithoutCode<One> = One extends unknown ? Omit<One, 'errorCode'> : never;

/** What an error means for a message, without Meta's code. */
export type Fault = WithoutCode<Failure>;

export const retry = (reason: string, throttled: 'none' | ThrottleScope = 'none'): Fault => ({
  kind: 'retry',
  reason,
  throttled,
  retryAfterSeconds: null,
});
export const unknown = (reason: string): Fault => ({ kind: 'unknown', reason });
const sender = (reason: string): Fault => ({ kind: 'sender', reason });
export const recipient = (reason: string): Fault => ({ kind: 'recipient', reason });
export const config = (scope: FaultScope, reason: string): Fault => ({ kind: 'config', reason, scope });

/** The party that can act on an error. `us`: the operator of the service. `none`: no action is possible or needed. */
export type ErrorOwner = 'recipient' | 'us' | 'provider' | 'none';

interface KnownError {
  /** The key of translations, usually the code. */
  name: string;
  /** Its `reason` is the error's meaning. */
  fault: Fault;
  remedy: RemedyName;
  /** Overrides the owner that follows from the error's class. */
  owner?: ErrorOwner | undefined;
}

/** Error 100 with subcode 33. */
export const UNKNOWN_SENDER: KnownError = {
  name: 'unknown_sender',
  fault: sender('The sender’s phone number id does not exist for its access token.'),
  remedy: 'check_phone_number_id',
};

/** Error 135000 of a message that was held before: see `afterHold`. */
export const PORTFOLIO_DROPPED: KnownError = {
  name: 'portfolio_held',
  fault: config('portfolio', PORTFOLIO_HELD),
  remedy: 'portfolio_review',
};

type Row = readonly [code: number, meaning: string, remedy: RemedyName, owner?: ErrorOwner];

const configOf = (scope: FaultScope) => (reason: string) => config(scope, reason);
const throttle = (scope: ThrottleScope) => (reason: string) => retry(reason, scope);
const known = (faultOf: (reason: string) => Fault, rows: readonly Row[]): [number, KnownError][] =>
  rows.map(([code, meaning, remedy, owner]) => [
    code,
    { name: String(code), fault: faultOf(meaning), remedy, owner },
  ]);

/**
 * The meaning of each Cloud API error code for a send. Source of the codes: Meta, "Error codes" of the WhatsApp Business Platform, without
 * the codes of flows, media and the Marketing Messages API, which Onecode never calls. 104, 131030 and 137000 are not in that table but
 * occur in practice. The sentences are not Meta's.
 */
const TABLE: ReadonlyMap<number, KnownError> = new Map([
  // The token and its permissions. Code 3 comes with HTTP 500 but is not temporary.
  ...known(configOf('token'), [
    [0, 'WhatsApp no longer accepts the sender’s access token.', 'new_token'],
    [3, 'The sender’s access token lacks a capability.', 'permissions'],
    [10, 'A permission of the sender’s access token was never granted or was removed.', 'permissions'],
    [104, 'WhatsApp found no access token in the request.', 'new_token'],
    [190, 'The sender’s access token has expired or is not valid.', 'new_token'],
    [200, 'The sender’s access token lacks a permission.', 'permissions'],
    [131005, 'The sender’s access token may not send messages.', 'permissions'],
  ]),
  // The business account.
  ...known(configOf('business'), [
    [368, 'WhatsApp has restricted the sender’s business for violating a policy.', 'account_quality'],
    [131031, 'WhatsApp has locked the sender’s business account.', 'account_quality'],
    [131042, 'The sender’s business account has a payment problem.', 'fix_payment'],
    [131044, 'The payment method of the sender’s business account has a problem.', 'fix_payment'],
    [
      131064,
      'The sender’s business account is limited because its templates are in the wrong category.',
      'review_categories',
    ],
    [134011, 'The sender’s business account has not accepted the terms for payments.', 'accept_terms'],
  ]),
  ...known(configOf('country'), [
    [130497, 'The sender’s business may not message numbers in this country.', 'verify_business'],
  ]),
  // The app.
  ...known(configOf('app'), [
    [131030, 'The sender is a test number and may message only listed numbers.', 'production_number'],
  ]),
  // Limits. 4 and 341 are limits of the whole app; the codes below are limits of the whole business account or its token, so another sender
  // of the same account would not help. Source of 17, 32, 341, 613 and 80000 to 80014: Meta, "Graph API: Rate limits" and "Handling
  // errors".
  ...known(throttle('app'), [
    [4, 'The app had made too many calls, so WhatsApp did not accept this one.', 'raise_app_limits'],
    [341, 'The app had reached a limit, so WhatsApp did not accept this call.', 'raise_app_limits'],
  ]),
  ...known(throttle('business'), [
    [17, 'The token’s user had made too many calls, so WhatsApp did not accept this one.', 'more_accounts'],
    [32, 'The business had made too many calls, so WhatsApp did not accept this one.', 'more_accounts'],
    [
      613,
      'The limit of calls to this API was reached, so WhatsApp did not accept this one.',
      'more_accounts',
    ],
    [
      80007,
      'The business account had made too many calls, so WhatsApp did not accept this one.',
      'more_accounts',
    ],
  ]),
  ...known(throttle('sender'), [
    [130429, 'The sender had reached its limit of messages per second.', 'lower_throughput'],
  ]),
  ...known(throttle('pair'), [
    [131056, 'The sender had messaged this number too often in a short time.', 'wait_between_codes', 'none'],
  ]),
  // The platform.
  ...known(
    (reason) => retry(reason),
    [
      [1, 'WhatsApp had an unexplained error.', 'retried'],
      [2, 'WhatsApp was unavailable or overloaded.', 'retried'],
      [131000, 'WhatsApp had an internal error.', 'retried'],
      [131016, 'A part of WhatsApp was unavailable.', 'retried'],
      [133004, 'A WhatsApp server was unavailable.', 'retried'],
      // Meta describes this only as an error of the request. It is as vague as code 1: another attempt may succeed, so it is retried up to
      // the limit of attempts. Failing the send or blocking the sender would be worse.
      [135000, 'WhatsApp refused the message without a reason.', 'retried'],
    ],
  ),
  // The sender.
  ...known(sender, [
    [33, 'The sender’s number was deleted from WhatsApp.', 'replace_sender'],
    [131037, 'The display name of the sender is not approved.', 'approve_name'],
    [131045, 'The sender’s number is not registered correctly.', 'check_number'],
    [131048, 'The sender is limited because too many people block or report it.', 'check_quality'],
    [131057, 'The sender is under maintenance at WhatsApp.', 'wait_minutes', 'provider'],
    [133000, 'The sender’s number was not completely deregistered.', 'check_number'],
    [133005, 'The two-step PIN of the sender’s number is wrong.', 'pin'],
    [133006, 'The sender’s number must be verified again.', 'check_number'],
    [133008, 'The two-step PIN of the sender’s number was entered wrong too often.', 'wait_for_pin'],
    [133009, 'The two-step PIN of the sender’s number was entered too many times in a short time.', 'pin'],
    [133010, 'The sender’s number is not registered with WhatsApp.', 'check_number'],
    [133015, 'The sender’s number was just deleted and cannot be registered yet.', 'wait_to_register'],
    [133016, 'The sender’s number was registered too often.', 'wait_for_block'],
    [2494100, 'The sender’s number is being moved and is under maintenance.', 'wait_for_move', 'provider'],
  ]),
  // The recipient.
  ...known(recipient, [
    [130403, 'The sender’s business has blocked this number.', 'unblock_number', 'us'],
    [
      130472,
      'The number is part of a WhatsApp experiment and gets no such messages.',
      'other_number',
      'none',
    ],
    [131021, 'The recipient is the number that the code is sent from.', 'own_number'],
    [
      131026,
      'WhatsApp could not deliver to this number: it has no WhatsApp account, uses a very old version, or its owner has not accepted WhatsApp’s terms.',
      'check_or_other_number',
    ],
    [131049, 'WhatsApp chose not to deliver to this number for now.', 'wait_a_day', 'none'],
    // Occurs with `recipient_identity_key_hash`, usually in a `failed` receipt.
    [
      137000,
      'The number has changed hands, or WhatsApp was set up again, since this person last verified a code.',
      'prove_identity',
    ],
    [131050, 'The person has opted out of messages from this business.', 'allow_messages'],
  ]),
  // The request.
  ...known(configOf('request'), [
    [100, 'WhatsApp did not accept a parameter of the message.', 'our_request'],
    [131008, 'A parameter was missing from the message.', 'our_request'],
    [131009, 'A parameter of the message had a value that WhatsApp does not accept.', 'our_request'],
    [131047, 'WhatsApp treated the message as one without a template.', 'our_request'],
    [131051, 'WhatsApp does not know this type of message.', 'our_request'],
    [131062, 'WhatsApp sends codes to phone numbers only.', 'our_request'],
  ]),
  // The template.
  ...known(configOf('template'), [
    [
      131063,
      'WhatsApp counts the template as marketing, which is switched off for the business.',
      'marketing',
    ],
    [132000, 'The sender’s template expects a different number of parameters.', 'template_form'],
    [
      132001,
      'The sender’s template does not exist in this language, or is not approved.',
      'approve_template',
    ],
    [132005, 'The text of the sender’s template is too long with the code in it.', 'template_manager'],
    [132007, 'The text of the sender’s template violates WhatsApp’s rules.', 'template_manager'],
    [132008, 'A parameter of the sender’s template is not valid.', 'template_form'],
    [132012, 'The sender’s template expects its parameters in a different format.', 'template_form'],
    [
      132015,
      'WhatsApp has paused the sender’s template because of negative feedback.',
      'wait_or_edit_template',
    ],
    [132016, 'WhatsApp has disabled the sender’s template permanently.', 'new_template'],
    [132018, 'The parameters of the sender’s template are not valid.', 'template_form'],
    [2388019, 'The sender’s business account has too many templates.', 'delete_templates'],
    [2388039, 'The status of the sender’s template cannot be changed now.', 'template_manager'],
    [2388040, 'A field of the sender’s template is too long.', 'template_manager'],
    [2388047, 'The header of the sender’s template has the wrong format.', 'template_manager'],
    [2388072, 'The body of the sender’s template has the wrong format.', 'template_manager'],
    [2388073, 'The footer of the sender’s template has the wrong format.', 'template_manager'],
    [2388293, 'The sender’s template has too many parameters for its length.', 'template_manager'],
    [2388299, 'The sender’s template begins or ends with a parameter.', 'template_manager'],
  ]),
]);

/** The known codes, without the ranges of permissions and of business account limits. */
export const KNOWN_CODES: readonly number[] = [...TABLE.keys()];

/**
 * Returns the row of a code. Codes 200 to 299 are permissions, and codes 80000 to 80014 are business account limits. Code 100 is a fault of
 * the request, but with subcode 33 it means that the token cannot access the node.
 */
export function knownError(code: number | null, subcode: number | null = null): KnownError | undefined {
  if (code === null) return undefined;
  if (code === 100 && subcode === 33) return UNKNOWN_SENDER;
  if (code >= 200 && code <= 299) return TABLE.get(200);
  return TABLE.get(code >= 80_000 && code <= 80_014 ? 80_007 : code);
}
