import { fillText } from '@onecode/domain';
import type { GraphFailure } from '../client.js';
import { knownError, REMEDIES } from '../errorTable.js';

/** A number of a business account. */
export interface FoundNumber {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  /** The name that recipients see; empty if Meta reports none. */
  verifiedName: string;
  status: string;
  /** Messages a second that Meta accepts from it. */
  throughput: number;
  /** Its number, name, status and quality, for people. */
  text: string;
}

export interface SetupOptions {
  token: string;
  businessAccountId: string;
  /** E.164; null for the only number of the business account. */
  number: string | null;
  /** The two-step PIN of the number, or the PIN to set for it; null if unknown. */
  pin: string | null;
  template: string;
  /** Null for the English language in which the template exists, or for `en` if it exists in none. */
  english: 'en' | 'en_US' | null;
  codeValiditySeconds: number;
  /** Whether to only read. A step that would change something is then `waiting`, and its detail describes the change. */
  isDryRun: boolean;
  /** Whether an existing template that differs may be changed. */
  mayChangeTemplates: boolean;
  /** How long to wait for the approval of templates. */
  approvalMs: number;
  /** Returns whether a sender with the number was activated, which implies that the number is registered. */
  isKnown: (phoneNumberId: string) => Promise<boolean>;
  /** Adds the sender, paused, unless it exists. Without it, the sender is not a step. */
  addSender?: (number: SetupNumber) => Promise<SetupStep>;
}

/** A number that is being set up. */
export type SetupNumber = Pick<FoundNumber, 'phoneNumberId' | 'number' | 'throughput'> & {
  englishTemplateLanguage: 'en' | 'en_US';
};

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
  /** In English, with Meta's message. */
  detail: string;
  /** The key of a translation; null if the detail has none. */
  text: SetupText | null;
  /** The facts in the translation. */
  facts: Facts;
  /** Meta's own message, which translations do not contain; null without one. */
  quote: string | null;
  /** A page of Meta on which a person can act. */
  link: string | null;
}

const SYSTEM_USERS = 'https://business.facebook.com/settings/system-users';

/** The pages of Meta for texts that are not about the object of their step. Source: the help pages of Meta Business Suite. */
const PAGES: Readonly<Partial<Record<SetupText, string>>> = {
  token_invalid: SYSTEM_USERS,
  token_permissions: SYSTEM_USERS,
  full_control: SYSTEM_USERS,
  no_access: SYSTEM_USERS,
  account_restricted: 'https://business.facebook.com/accountquality',
};
export const numbersPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/phone-numbers/?waba_id=${businessAccountId}`;
export const templatesPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/message-templates/?waba_id=${businessAccountId}`;

/** Returns a step with a text that the console translates. @param page Meta's page with the object of the step */
export function step(
  name: string,
  status: SetupStatus,
  text: SetupText,
  facts: Facts = {},
  page: string | null = null,
): SetupStep {
  const detail = fillText(SETUP_TEXTS[text], facts);
  return { step: name, status, detail, text, facts, quote: null, link: PAGES[text] ?? page };
}

/** Returns a step with a detail in English only. */
export const englishStep = (
  name: string,
  status: SetupStatus,
  detail: string,
  link: string | null = null,
): SetupStep => ({ step: name, status, detail, text: null, facts: {}, quote: null, link });

/** What Meta's errors mean for the setup, by their name in the error table. Source: Meta, "Graph API error handling" and "Error codes". */
const FAULTS: Readonly<Record<string, readonly [SetupStatus, SetupText]>> = {
  0: ['needs_you', 'token_invalid'],
  3: ['needs_you', 'full_control'],
  10: ['needs_you', 'full_control'],
  102: ['needs_you', 'token_invalid'],
  190: ['needs_you', 'token_invalid'],
  200: ['needs_you', 'full_control'],
  368: ['needs_you', 'account_restricted'],
  803: ['needs_you', 'no_access'],
  131031: ['needs_you', 'account_restricted'],
  133005: ['needs_you', 'wrong_pin'],
  133006: ['needs_you', 'number_unverified'],
  133008: ['waiting', 'pin_tries'],
  133009: ['waiting', 'pin_tries'],
  133016: ['waiting', 'registered_too_often'],
  unknown_sender: ['needs_you', 'no_access'],
};

/** Returns the step after a call that Meta refused. Its detail quotes Meta, so that an unknown error stays visible. */
export function refused(name: string, failed: GraphFailure, page: string | null = null): SetupStep {
  const { code, subcode, quote, failure } = failed;
  const fault = FAULTS[knownError(code, subcode)?.name ?? String(code)];
  const found = fault === undefined ? otherFault(name, failed, page) : step(name, ...fault, {}, page);
  const quoted = quote === null ? '' : ` Meta’s message: "${quote}"`;
  return { ...found, quote, detail: `${failure}${quoted} ${found.detail}`.trim() };
}

/** The end of remedies for a sender that sent messages before. The setup activates the sender itself. */
const RESUME = /, then resume (?:the sender|it)\.$/;

function otherFault(
  name: string,
  { code, subcode, isTemporary }: GraphFailure,
  page: string | null,
): SetupStep {
  if (isTemporary) return englishStep(name, 'failed', 'Run the setup again later.');
  const remedy = (knownError(subcode) ?? knownError(code, subcode))?.remedy;
  // In the setup, a refused parameter is usually one that the operator gave: only Meta's message helps.
  const advice = remedy === undefined || remedy === 'our_request' ? '' : REMEDIES[remedy];
  // Codes from 2388000 are about the template. Meta's message explains the necessary change.
  const isAboutTemplate = [subcode, code].some((one) => one !== null && Math.floor(one / 1_000) === 2_388);
  const status = isAboutTemplate ? 'needs_you' : 'failed';
  return englishStep(name, status, advice.replace(RESUME, ', then run the setup again.'), page);
}
