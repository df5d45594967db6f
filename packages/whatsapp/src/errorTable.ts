import { PORTFOLIO_HELD, type FaultScope, type Outcome } from '@onecode/domain';

/** What operators can do about Meta's errors. */
const OPERATOR_REMEDIES = {
  new_token: 'Give the sender a new access token. It sends again when Meta accepts the token.',
  permissions:
    'In Meta’s business settings, give the token’s system user full control of this business account, with the permissions whatsapp_business_management and whatsapp_business_messaging, then resume the sender.',
  account_quality:
    'Open the account quality page of the business in Meta’s Business Suite, do what it asks for or request a review; meanwhile, use senders of another business.',
  portfolio_review:
    'In WhatsApp Manager, do what it asks of the business portfolio and lift the pause of its messages, then resume its blocked senders; meanwhile, use senders of another portfolio.',
  check_number: 'Check the number in WhatsApp Manager, register it again, then resume the sender.',
  pin: 'Register the number with its two-step PIN, or reset the PIN in WhatsApp Manager.',
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
  wait_to_register: 'Wait for the time that Meta requires (up to 72 hours), then register the number.',
  unblock_number: 'Unblock the number in WhatsApp if it was blocked by mistake.',
  approve_template:
    'Have the template approved in Portuguese and English, check the name and language set for the sender, then resume it.',
  wait_or_edit_template:
    'Wait until the pause ends or edit the template in WhatsApp Manager; meanwhile, give the sender another approved template.',
  new_template: 'Create a new template, have it approved, and give it to the sender.',
  delete_templates: 'Delete unused templates in WhatsApp Manager.',
  check_sender:
    'Check the sender’s token, business account and template in Meta’s business settings, then resume the sender.',
  check_phone_number_id:
    'Check the ids of the phone number and the business account, and whether the token’s system user has access to this business account, then resume the sender.',
} as const;

/** What integrators and recipients can do about Meta's errors, or what happens without them. */
const OTHER_REMEDIES = {
  retried: 'The send is retried automatically. If this happens to many sends, check Meta’s status page.',
  other_number: 'Ask the person for another number, or contact them in another way.',
  wait_between_codes: 'This send is retried automatically. Make people wait longer between two codes.',
  wait_minutes: 'Wait a few minutes; other senders send meanwhile.',
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

type Throttled = 'pair' | 'sender' | 'business';

export const retry = (reason: string, throttled: 'none' | Throttled = 'none'): Fault => ({
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

/** Codes with the same meaning for a send. The first one is the key of the translations. */
type Row = readonly [codes: readonly number[], meaning: string, remedy: RemedyName];

const configOf = (scope: FaultScope) => (reason: string) => config(scope, reason);
const throttle = (scope: Throttled) => (reason: string) => retry(reason, scope);
const known = (faultOf: (reason: string) => Fault, rows: readonly Row[]): [number, KnownError][] =>
  rows.flatMap(([codes, meaning, remedy]) => {
    const error = { name: String(codes[0]), fault: faultOf(meaning), remedy };
    return codes.map((code): [number, KnownError] => [code, error]);
  });
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/**
 * The meaning of each Cloud API error code for a send. Source of the codes: Meta, "Error codes" of the WhatsApp Business Platform, without
 * the codes of flows, media and the Marketing Messages API, which Onecode never calls. 104, 131030 and 137000 are not in that table but
 * occur in practice. The sentences are not Meta's.
 */
const TABLE: ReadonlyMap<number, KnownError> = new Map([
  // The token and its permissions. Code 3 comes with HTTP 500 but is not temporary. Source of 102: Meta, "Handling errors".
  ...known(configOf('token'), [
    [[190, 0, 102, 104], 'The sender’s access token has expired or is not valid.', 'new_token'],
    [
      [200, 3, 10, ...range(201, 299), 131005],
      'The sender’s access token lacks a permission.',
      'permissions',
    ],
  ]),
  // The business account.
  ...known(configOf('business'), [
    [[131031, 368], 'WhatsApp has restricted or locked the sender’s business account.', 'account_quality'],
    [[131042, 131044], 'The sender’s business account has a payment problem.', 'fix_payment'],
    [
      [131064],
      'The sender’s business account is limited because its templates are in the wrong category.',
      'review_categories',
    ],
    [[134011], 'The sender’s business account has not accepted the terms for payments.', 'accept_terms'],
  ]),
  ...known(configOf('country'), [
    [[130497], 'The sender’s business may not message numbers in this country.', 'verify_business'],
  ]),
  // The app.
  ...known(configOf('app'), [
    [[131030], 'The sender is a test number and may message only listed numbers.', 'production_number'],
  ]),
  // Limits. 4 and 341 are limits of the app, which each of its business accounts meets; the others are limits of a business account or its
  // token, so another sender of the same account would not help. Source of 17, 32, 341, 613 and 80000 to 80014: Meta, "Graph API: Rate
  // limits" and "Handling errors".
  ...known(throttle('business'), [
    [[4, 341], 'The app had made too many calls, so WhatsApp did not accept this one.', 'raise_app_limits'],
    [
      [80_007, 17, 32, 613, ...range(80_000, 80_014)],
      'The business account had made too many calls, so WhatsApp did not accept this one.',
      'more_accounts',
    ],
  ]),
  ...known(throttle('sender'), [
    [[130429], 'The sender had reached its limit of messages per second.', 'lower_throughput'],
  ]),
  ...known(throttle('pair'), [
    [[131056], 'The sender had messaged this number too often in a short time.', 'wait_between_codes'],
  ]),
  // The platform.
  ...known(
    (reason) => retry(reason),
    [
      [[131000, 1, 2, 131016, 133004], 'WhatsApp had an internal error or was unavailable.', 'retried'],
      // Meta describes this only as an error of the request. It is as vague as code 1: another attempt may succeed, so it is retried up to
      // the limit of attempts. Failing the send or blocking the sender would be worse.
      [[135000], 'WhatsApp refused the message without a reason.', 'retried'],
    ],
  ),
  // The sender.
  ...known(sender, [
    [[33], 'The sender’s number was deleted from WhatsApp.', 'replace_sender'],
    [[131037], 'The display name of the sender is not approved.', 'approve_name'],
    [[131045, 133000, 133010], 'The sender’s number is not registered correctly.', 'check_number'],
    [[131048], 'The sender is limited because too many people block or report it.', 'check_quality'],
    [[131057, 2_494_100], 'The sender is under maintenance at WhatsApp.', 'wait_minutes'],
    [[133005], 'The two-step PIN of the sender’s number is wrong.', 'pin'],
    [[133006], 'The sender’s number must be verified again.', 'check_number'],
    [[133008, 133009], 'The two-step PIN of the sender’s number was entered too often.', 'wait_to_register'],
    [[133015], 'The sender’s number was just deleted and cannot be registered yet.', 'wait_to_register'],
    [[133016], 'The sender’s number was registered too often.', 'wait_to_register'],
  ]),
  // The recipient.
  ...known(recipient, [
    [[130403], 'The sender’s business has blocked this number.', 'unblock_number'],
    [[130472], 'The number is part of a WhatsApp experiment and gets no such messages.', 'other_number'],
    [[131021], 'The recipient is the number that the code is sent from.', 'own_number'],
    [
      [131026],
      'WhatsApp could not deliver to this number: it has no WhatsApp account, uses a very old version, or its owner has not accepted WhatsApp’s terms.',
      'check_or_other_number',
    ],
    [[131049], 'WhatsApp chose not to deliver to this number for now.', 'wait_a_day'],
    // Occurs with `recipient_identity_key_hash`, usually in a `failed` receipt.
    [
      [137000],
      'The number has changed hands, or WhatsApp was set up again, since this person last verified a code.',
      'prove_identity',
    ],
    [[131050], 'The person has opted out of messages from this business.', 'allow_messages'],
  ]),
  // The request.
  ...known(configOf('request'), [
    [
      [100, 131008, 131009, 131047, 131051, 131062],
      'WhatsApp did not accept a parameter of the message.',
      'our_request',
    ],
  ]),
  // The template. Codes from 2388000 concern its creation and its changes, which need no distinction: the setup quotes Meta's message.
  ...known(configOf('template'), [
    [
      [131063],
      'WhatsApp counts the template as marketing, which is switched off for the business.',
      'marketing',
    ],
    [[132000, 132008, 132012, 132018], 'The sender’s template expects other parameters.', 'template_form'],
    [
      [132001],
      'The sender’s template does not exist in this language, or is not approved.',
      'approve_template',
    ],
    [
      [132007, 132005, ...range(2_388_000, 2_388_999)],
      'WhatsApp does not accept the sender’s template.',
      'template_manager',
    ],
    [
      [132015],
      'WhatsApp has paused the sender’s template because of negative feedback.',
      'wait_or_edit_template',
    ],
    [[132016], 'WhatsApp has disabled the sender’s template permanently.', 'new_template'],
    [[2_388_019], 'The sender’s business account has too many templates.', 'delete_templates'],
  ]),
]);

/** The known codes. */
export const KNOWN_CODES: readonly number[] = [...TABLE.keys()];

/**
 * Returns the row of a code. Code 100 is a fault of the request. With subcode 33, like code 803, it means that the token cannot access the
 * node. With a subcode from 2388000 to 2388999, it is a fault of the template; other errors have larger subcodes.
 */
export function knownError(code: number | null, subcode: number | null = null): KnownError | undefined {
  if (code === null) return undefined;
  if (code === 803 || (code === 100 && subcode === 33)) return UNKNOWN_SENDER;
  const isOfTemplate = code === 100 && subcode !== null && Math.floor(subcode / 1_000) === 2_388;
  return TABLE.get(isOfTemplate ? subcode : code);
}
