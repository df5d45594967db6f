import { fillText } from '@onecode/domain';
import { knownError, REMEDIES } from '../errorTable.js';
import type { GraphFailure } from '../client.js';

/**
 * The state of a step. `already`: nothing needed to be done. `waiting`: it needs no action, only time, such as an approval. `needs_you`: a
 * person has to act. `failed`: the setup could not complete it.
 */
export type SetupStatus = 'done' | 'already' | 'waiting' | 'needs_you' | 'failed';

/** The texts that the console translates. `{{name}}` stands for a fact. */
export const SETUP_TEXTS = {
  token_accepted: 'Meta accepts the access token.',
  token_invalid: 'Meta does not accept the access token. Create a new access token for a system user.',
  token_permissions: 'The access token lacks the permissions {{scopes}}.',
  token_undecryptable: 'The stored token cannot be decrypted: enter the token again.',
  token_expires: 'Meta accepts the access token. It expires at {{at}}: use a token that does not expire.',
  full_control:
    'Give the token’s system user full control of this business account, with the permissions whatsapp_business_management and whatsapp_business_messaging.',
  no_access: 'Check the id, and whether the token’s system user has access to this business account.',
  account_restricted: 'Meta has restricted the account: see what it asks for.',
  no_number: 'The business account has no number. Add one in WhatsApp Manager, and verify it there.',
  business_account_unknown:
    'The number’s business account is not known yet: check the sender, then continue.',
  registered: 'The number is registered. Keep its two-step PIN.',
  connected: 'The number is connected, so it is not registered again.',
  registered_before: 'Meta reports that the number is already registered.',
  pin_missing:
    'The PIN is missing: the two-step PIN of the number, or six digits of your choice if it has none.',
  would_register: 'Would register the number with the PIN.',
  wrong_pin: 'The PIN is wrong. Use the two-step PIN of the number, or reset it in WhatsApp Manager.',
  number_unverified:
    'Verify the number in WhatsApp Manager with a code by SMS or voice, then run the setup again.',
  pin_tries: 'The PIN was wrong too often. Wait for the time that Meta requires, then run the setup again.',
  registered_too_often:
    'The number was registered too often. Meta allows it again after up to 72 hours; then run the setup again.',
  subscribed: 'The app is subscribed: Meta sends webhooks of the business account to it.',
  subscribed_before: 'Meta sends webhooks of the business account to the app.',
  would_subscribe: 'Would subscribe the app to the business account.',
  validity_not_in_minutes:
    'Codes are valid for {{seconds}} seconds, which a template cannot state: set code_validity_seconds to whole minutes, up to {{most}}.',
  template_approved: 'The template {{template}} ({{language}}) is approved.',
  template_pending: 'The template {{template}} ({{language}}) waits for Meta’s approval.',
  template_status:
    'The template {{template}} ({{language}}) is {{status}}. Do what WhatsApp Manager asks for, or use another name.',
  template_differs:
    'The template {{template}} ({{language}}) exists, but not as it should be, and was not changed. Allow the change or use another name. A template with a one-tap or zero-tap button can be changed only in WhatsApp Manager.',
  would_create_template: 'Would create the template {{template}} ({{language}}).',
  would_change_template: 'Would change the template {{template}} ({{language}}).',
  can_send: 'Meta allows the number to send.',
  number_status: 'Meta shows the number as {{status}}.',
  test_delivered: 'The test code {{code}} was delivered within {{seconds}} seconds.',
  test_sent:
    'The test code {{code}} was sent but not delivered within {{seconds}} seconds: is the phone online?',
  test_unreported:
    "Meta accepted the test code {{code}}, but no receipt reached this service. Check that an API is running, and the callback address and verify token in the app's WhatsApp settings.",
  test_failed: 'Meta accepted the test message and then reported that it failed.',
} as const;
export type SetupText = keyof typeof SETUP_TEXTS;

type Facts = Readonly<Record<string, string | number>>;

/** The result of one step of the setup. */
export interface SetupStep {
  step: string;
  status: SetupStatus;
  /** In English. */
  detail: string;
  /** The key of a translation, without Meta's message if the detail quotes it; null if the detail has none. */
  text: SetupText | null;
  /** The facts in the translation. */
  facts: Facts;
  /** A page of Meta on which a person can act. */
  link: string | null;
}

/** Returns a step with a text that the console translates. */
export const step = (
  name: string,
  status: SetupStatus,
  text: SetupText,
  facts: Facts = {},
  link: string | null = null,
): SetupStep => ({ step: name, status, detail: fillText(SETUP_TEXTS[text], facts), text, facts, link });

/** Returns a step with a detail in English only. */
export const englishStep = (
  name: string,
  status: SetupStatus,
  detail: string,
  link: string | null = null,
): SetupStep => ({ step: name, status, detail, text: null, facts: {}, link });

/** Pages of Meta. Source: the help pages of Meta Business Suite. */
export const SYSTEM_USERS = 'https://business.facebook.com/settings/system-users';
const ACCOUNT_QUALITY = 'https://business.facebook.com/accountquality';
export const numbersPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/phone-numbers/?waba_id=${businessAccountId}`;
export const templatesPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/message-templates/?waba_id=${businessAccountId}`;

type Fault = readonly [SetupStatus, SetupText, link: string | null];

const TOKEN_INVALID: Fault = ['needs_you', 'token_invalid', SYSTEM_USERS];
const FULL_CONTROL: Fault = ['needs_you', 'full_control', SYSTEM_USERS];
const NO_ACCESS: Fault = ['needs_you', 'no_access', SYSTEM_USERS];
const RESTRICTED: Fault = ['needs_you', 'account_restricted', ACCOUNT_QUALITY];
const PIN_TRIES: Fault = ['waiting', 'pin_tries', null];

/** The end of remedies for a sender that sent messages before. The setup activates the sender itself. */
const RESUME = /, then resume (?:the sender|it)\.$/;

/**
 * What Meta's errors mean for the setup, by their name in the error table. A fault without a link is about the object of the step. Source:
 * Meta, "Graph API error handling" and "Error codes".
 */
const FAULTS: Readonly<Record<string, Fault>> = {
  0: TOKEN_INVALID,
  3: FULL_CONTROL,
  10: FULL_CONTROL,
  200: FULL_CONTROL,
  102: TOKEN_INVALID,
  190: TOKEN_INVALID,
  803: NO_ACCESS,
  unknown_sender: NO_ACCESS,
  368: RESTRICTED,
  131031: RESTRICTED,
  133005: ['needs_you', 'wrong_pin', null],
  133006: ['needs_you', 'number_unverified', null],
  133008: PIN_TRIES,
  133009: PIN_TRIES,
  133016: ['waiting', 'registered_too_often', null],
};

/**
 * Returns the step after a refused call. It quotes Meta, so that an unknown error stays visible.
 *
 * @param page the page of Meta with the object of the step
 */
export function refused(
  name: string,
  what: string,
  failure: GraphFailure,
  page: string | null = null,
): SetupStep {
  const { code, subcode, message, isTemporary } = failure;
  const quoted = message === null ? '' : ` Meta’s message: "${message}"`;
  const detailWith = (advice: string): string => `${what} ${failure.failure}${quoted} ${advice}`.trim();

  const known = knownError(code, subcode);
  const fault = FAULTS[known?.name ?? String(code)];
  if (fault !== undefined) {
    const [status, text, link] = fault;
    return { ...step(name, status, text, {}, link ?? page), detail: detailWith(SETUP_TEXTS[text]) };
  }
  if (isTemporary) return englishStep(name, 'failed', detailWith('Run the setup again later.'));
  const remedy = (knownError(subcode) ?? known)?.remedy;
  // In the setup, a refused parameter is usually one that the operator gave: only Meta's message helps.
  const advice = remedy === undefined || remedy === 'our_request' ? '' : REMEDIES[remedy];
  const detail = detailWith(advice.replace(RESUME, ', then run the setup again.'));
  // Codes from 2388000 are about the template. Meta's message explains the necessary change.
  const isAboutTemplate = [subcode, code].some((one) => one !== null && Math.floor(one / 1_000) === 2_388);
  return isAboutTemplate ? englishStep(name, 'needs_you', detail, page) : englishStep(name, 'failed', detail);
}
