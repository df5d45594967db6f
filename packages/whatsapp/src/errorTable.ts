import { PORTFOLIO_HELD, type FaultScope, type Outcome, type ThrottleScope } from '@onecode/domain';

/** What operators can do about Meta's errors. */
const OPERATOR_REMEDIES = {
  new_token: 'Give the sender a new access token. It sends again when Meta accepts the token.',
  permissions:
    'In Meta’s business settings, give the token’s system user the permission whatsapp_business_messaging for this account, then resume the sender.',
  account_quality:
    'Open the account quality page of the business in Meta’s Business Suite, do what it asks for or request a review; meanwhile, use senders of another business.',
  portfolio_review:
    'In WhatsApp Manager, do what it asks of the business portfolio and lift the pause of its messages, then resume its blocked senders; meanwhile, use senders of another portfolio.',
  check_number: 'Check the number in WhatsApp Manager, register it again, then resume the sender.',
  pin: 'Reset the two-step PIN of the number in WhatsApp Manager, register it again, then resume the sender.',
  our_request:
    'This is a fault of the service itself: report the code and the time to its developers. Other sends are not affected.',
  template_manager:
    'Open the template in WhatsApp Manager, fix what it reports, wait for approval, then resume the sender.',
  template_form:
    'Use an authentication template with one code and one copy-code, one-tap or zero-tap button, have it approved, then resume the sender.',
  marketing:
    'Check that the template’s category is still authentication and not marketing, then resume the sender.',
  fix_payment:
    'Check the payment method, credit line, currency and time zone of the WhatsApp account in Meta’s billing settings, then resume the sender.',
  review_categories: 'Review the categories of its templates; Meta lifts the limit when the period ends.',
  accept_terms: 'Accept the terms in WhatsApp Manager, then resume the sender.',
  verify_business:
    'Verify the business with Meta, or add a sender of a business that may message this country.',
  production_number: 'Use a production number, or add the recipient to the list in Meta’s app dashboard.',
  raise_app_limits:
    'This send is retried automatically. If it keeps happening, check the app’s rate limits in Meta’s dashboard.',
  more_accounts:
    'This send is retried automatically. If it keeps happening, add senders of another business account.',
  lower_throughput:
    'This send is retried automatically. If it keeps happening, lower the sender’s throughput to what Meta grants, or add senders.',
  replace_sender: 'Replace the sender: add another number and pause this one.',
  approve_name: 'Have the display name approved in WhatsApp Manager, then resume the sender.',
  check_quality:
    'Check the number’s quality in WhatsApp Manager, and find out who requests codes without verifying them; other senders send meanwhile.',
  wait_for_pin: 'Wait for the time that Meta requires, then set a new PIN.',
  wait_to_register: 'Wait five minutes, register the number, then resume the sender.',
  wait_for_block: 'Wait until Meta lifts the block (up to 72 hours); other senders send meanwhile.',
  unblock_number: 'Unblock the number in WhatsApp if it was blocked by mistake.',
  approve_template:
    'Have the template approved in Portuguese and English, check the name and language set for the sender, then resume it.',
  wait_or_edit_template:
    'Wait until the pause ends or edit the template in WhatsApp Manager; meanwhile, give the sender another approved template.',
  new_template: 'Create a new template, have it approved, and give it to the sender.',
  delete_templates: 'Delete unused templates in WhatsApp Manager.',
  check_sender:
    'Check the sender’s token, business account and template in Meta’s business settings, then resume the sender.',
  check_phone_number_id: 'Check the phone number id and the token’s permissions, then resume the sender.',
} as const;

/** What integrators and recipients can do about Meta's errors, or what happens without them. */
const OTHER_REMEDIES = {
  retried: 'The send is retried automatically. If this happens to many sends, check Meta’s status page.',
  other_number: 'Ask the person for another number, or contact them in another way.',
  wait_between_codes: 'This send is retried automatically. Make people wait longer between two codes.',
  wait_minutes: 'Wait a few minutes; other senders send meanwhile.',
  wait_for_move: 'Wait until the move is complete, then resume the sender.',
  own_number: 'Send the code to the person’s own number.',
  check_or_other_number:
    'Ask the person to check the number or give another one; landlines and numbers without WhatsApp get no code.',
  wait_a_day: 'Wait a day before the next code to this number, or use another number.',
  prove_identity:
    'Confirm in another way, not through this number, that it is still the same person. Then ask the operator to trust the number again.',
  allow_messages:
    'Ask the person to allow messages from the business in WhatsApp, or to give another number.',
  wait_for_receipt: 'Wait: a receipt will report the result, or the same code is sent again.',
} as const;

export const REMEDIES = { ...OPERATOR_REMEDIES, ...OTHER_REMEDIES };

export type RemedyName = keyof typeof REMEDIES;

/** Returns whether only operators can follow a remedy. */
export const isForOperator = (remedy: RemedyName): boolean => remedy in OPERATOR_REMEDIES;

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

interface KnownError {
  /** The key of translations, usually the code. */
  name: string;
  /** Its `reason` is the error's meaning. */
  fault: Fault;
  remedy: RemedyName;
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

type Row = readonly [code: number, meaning: string, remedy: RemedyName];

const configOf = (scope: FaultScope) => (reason: string) => config(scope, reason);
const throttle = (scope: ThrottleScope) => (reason: string) => retry(reason, scope);
const known = (faultOf: (reason: string) => Fault, rows: readonly Row[]): [number, KnownError][] =>
  rows.map(([code, meaning, remedy]) => [code, { name: String(code), fault: faultOf(meaning), remedy }]);

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
    [131056, 'The sender had messaged this number too often in a short time.', 'wait_between_codes'],
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
    [131057, 'The sender is under maintenance at WhatsApp.', 'wait_minutes'],
    [133000, 'The sender’s number was not completely deregistered.', 'check_number'],
    [133005, 'The two-step PIN of the sender’s number is wrong.', 'pin'],
    [133006, 'The sender’s number must be verified again.', 'check_number'],
    [133008, 'The two-step PIN of the sender’s number was entered wrong too often.', 'wait_for_pin'],
    [133009, 'The two-step PIN of the sender’s number was entered too many times in a short time.', 'pin'],
    [133010, 'The sender’s number is not registered with WhatsApp.', 'check_number'],
    [133015, 'The sender’s number was just deleted and cannot be registered yet.', 'wait_to_register'],
    [133016, 'The sender’s number was registered too often.', 'wait_for_block'],
    [2494100, 'The sender’s number is being moved and is under maintenance.', 'wait_for_move'],
  ]),
  // The recipient.
  ...known(recipient, [
    [130403, 'The sender’s business has blocked this number.', 'unblock_number'],
    [130472, 'The number is part of a WhatsApp experiment and gets no such messages.', 'other_number'],
    [131021, 'The recipient is the number that the code is sent from.', 'own_number'],
    [
      131026,
      'WhatsApp could not deliver to this number: it has no WhatsApp account, uses a very old version, or its owner has not accepted WhatsApp’s terms.',
      'check_or_other_number',
    ],
    [131049, 'WhatsApp chose not to deliver to this number for now.', 'wait_a_day'],
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
