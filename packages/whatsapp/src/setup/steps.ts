import { knownError } from '../errorTable.js';
import type { GraphFailure } from '../graphCalls.js';
import { REMEDIES } from '../remedies.js';

/**
 * The state of a step. `already`: nothing needed to be done. `waiting`: it needs no action, only time, such as an approval. `needs_you`: a
 * person has to act. `failed`: the setup could not complete it.
 */
export type SetupStatus = 'done' | 'already' | 'waiting' | 'needs_you' | 'failed';

/** The details that the console translates. */
export const SETUP_TEXTS = [
  'token_accepted',
  'token_invalid',
  'token_permissions',
  'no_number',
  'business_account_unknown',
  'registered',
  'connected',
  'registered_before',
  'pin_missing',
  'would_register',
  'wrong_pin',
  'number_unverified',
  'pin_tries',
  'registered_too_often',
  'subscribed',
  'subscribed_before',
  'would_subscribe',
  'template_approved',
  'template_pending',
  'template_rejected',
  'template_differs',
  'would_create_template',
  'can_send',
  'test_delivered',
  'test_sent',
  'test_unreported',
  'test_failed',
] as const;
export type SetupText = (typeof SETUP_TEXTS)[number];

/** The result of one step of the setup. */
export interface SetupStep {
  step: string;
  status: SetupStatus;
  detail: string;
  /** The key of the detail's translation; null if the detail quotes Meta or is rare. */
  text: SetupText | null;
  /** A page of Meta on which a person can act. */
  link: string | null;
}

export const step = (
  name: string,
  status: SetupStatus,
  detail: string,
  text: SetupText | null = null,
  link: string | null = null,
): SetupStep => ({ step: name, status, detail, text, link });

/** Pages of Meta. Source: the help pages of Meta Business Suite. */
export const SYSTEM_USERS = 'https://business.facebook.com/settings/system-users';
const ACCOUNT_QUALITY = 'https://business.facebook.com/accountquality';
export const numbersPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/phone-numbers/?waba_id=${businessAccountId}`;
export const templatesPage = (businessAccountId: string): string =>
  `https://business.facebook.com/wa/manage/message-templates/?waba_id=${businessAccountId}`;

export interface Advice {
  status: SetupStatus;
  advice: string;
  link?: string;
  text?: SetupText;
}

/**
 * Returns the advice for an error of any step, by Meta's code. Source: Meta, "Graph API error handling" and "Error codes". Other codes have
 * the remedy that the error table has for messages.
 */
export function adviceOn({ code, subcode, isTemporary }: GraphFailure): Advice {
  const needsYou = (advice: string, link: string): Advice => ({ status: 'needs_you', advice, link });
  if (code === 190 || code === 102)
    return needsYou('Create a new access token for a system user.', SYSTEM_USERS);
  if (code === 3 || code === 10 || (code !== null && code >= 200 && code <= 299))
    return needsYou(
      'Give the token’s system user full control of this business account, with the permissions whatsapp_business_management and whatsapp_business_messaging.',
      SYSTEM_USERS,
    );
  if (code === 803 || (code === 100 && subcode === 33))
    return needsYou(
      'Check the id, and whether the token’s system user has access to this business account.',
      SYSTEM_USERS,
    );
  if (code === 368 || code === 131031)
    return needsYou('Meta has restricted the account: see what it asks for.', ACCOUNT_QUALITY);
  if (isTemporary) return { status: 'failed', advice: 'Run the setup again later.' };
  const known = knownError(subcode) ?? knownError(code);
  // In the setup, a refused parameter is usually one that the operator gave: only Meta's message helps.
  const hasAdvice = known !== undefined && known.remedy !== 'our_request';
  return { status: 'failed', advice: hasAdvice ? REMEDIES[known.remedy] : '' };
}

/** Returns the step after a refused call. It quotes Meta, so that an unknown answer stays visible. */
export function refused(
  name: string,
  what: string,
  failure: GraphFailure,
  { status, advice, link, text }: Advice = adviceOn(failure),
): SetupStep {
  const quoted = failure.message === null ? '' : ` Meta’s message: "${failure.message}"`;
  return step(name, status, `${what} ${failure.failure}${quoted} ${advice}`.trim(), text, link ?? null);
}
