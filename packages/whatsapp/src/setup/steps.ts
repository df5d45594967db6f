import { fillText, isWarning, type PreflightResult } from '@onecode/domain';
import type { GraphFailure } from '../client.js';
import { knownError } from '../errors.js';
import type { FoundNumber } from '../graph.js';

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
  /** How long to wait for the approval of templates and the connection of the number. */
  approvalMs: number;
  /** Returns whether the number is known to be registered already. */
  isKnown: (phoneNumberId: string) => Promise<boolean>;
  /** Adds the sender, paused, unless it exists. Without it, the sender is not a step. */
  addSender?: (number: SetupNumber) => Promise<SetupStep>;
}

/** A number that is being set up. */
export type SetupNumber = FoundNumber & { englishTemplateLanguage: 'en' | 'en_US' };

/**
 * The state of a step. `already`: nothing needed to be done. `waiting`: it needs no action, only time, such as an approval. `needs_you`: a
 * person has to act. `failed`: the setup could not complete it.
 */
export type SetupStatus = 'done' | 'already' | 'waiting' | 'needs_you' | 'failed';

/** The setup's own texts. For most findings, it uses the texts of the preflight and of the error table. */
export const SETUP_TEXTS = {
  token_expires: 'Meta accepts the access token. It expires at {{at}}: use a token that does not expire.',
  token_undecryptable: 'The stored token cannot be decrypted: enter the token again.',
  no_number: 'The business account has no number. Add one in WhatsApp Manager, and verify it there.',
  business_account_unknown:
    'The number’s business account is not known yet: check the sender, then continue.',
  registered: 'The number is registered. Keep its two-step PIN.',
  connected: 'The number is connected, so it is not registered again.',
  pin_missing:
    'The PIN is missing: the two-step PIN of the number, or six digits of your choice if it has none.',
  would_register: 'Would register the number with the PIN.',
  subscribed: 'The app is subscribed: Meta sends webhooks of the business account to it.',
  would_subscribe: 'Would subscribe the app to the business account.',
  would_create_template: 'Would create the template {{template}} ({{language}}).',
  would_change_template: 'Would change the template {{template}} ({{language}}).',
  quote: 'Meta’s message: “{{quote}}”',
  test_delivered: 'The test code {{code}} was delivered within {{seconds}} seconds.',
  test_sent:
    'The test code {{code}} was sent but not delivered within {{seconds}} seconds: is the phone online?',
  test_unreported:
    "Meta accepted the test code {{code}}, but no receipt reached this service. Check that an API is running, and the callback address and verify token in the app's WhatsApp settings.",
  test_failed: 'Meta accepted the test message and then reported that it failed.',
} as const;

/** A sentence that the console translates. */
interface StepText {
  /** After the name of its catalog: `preflight:token_invalid`. */
  key: string;
  facts: PreflightResult['facts'];
}

/** The result of one step of the setup. */
export interface SetupStep {
  step: string;
  status: SetupStatus;
  /** In English, with Meta's message. */
  detail: string;
  /** The sentences of the detail that the console translates; empty if it has none. */
  texts: readonly StepText[];
  /** A page of Meta on which a person can act. */
  link: string | null;
}

/** Returns whether the following steps may rely on a step. */
export const isWell = ({ status }: SetupStep): boolean => status === 'done' || status === 'already';

/** Returns a step with a text of the setup. */
export function step(
  name: string,
  status: SetupStatus,
  text: keyof typeof SETUP_TEXTS,
  facts: StepText['facts'] = {},
): SetupStep {
  const detail = fillText(SETUP_TEXTS[text], facts);
  return { ...englishStep(name, status, detail), texts: [{ key: `senderSetup:${text}`, facts }] };
}

/** Returns a step with a detail in English only. */
export const englishStep = (name: string, status: SetupStatus, detail: string): SetupStep => ({
  step: name,
  status,
  detail,
  texts: [],
  link: null,
});

/**
 * Returns a step with the results of its checks: the failed ones, or the first if none failed.
 *
 * @param isChanged whether the setup changed what was checked
 */
export function checked(name: string, results: readonly PreflightResult[], isChanged = false): SetupStep {
  // Meta reports some facts only for some tokens.
  const failed = results.filter((result) => !result.ok && result.name !== 'unknown');
  const shown = failed.length > 0 ? failed : results.slice(0, 1);
  const faults = failed.filter((result) => !isWarning(result)).map((result) => result.name);
  const detail = shown.map(({ text }) => text).join(' ');
  return {
    ...englishStep(name, faults.length > 0 ? faultStatus(faults) : isChanged ? 'done' : 'already', detail),
    texts: shown.map((result) => ({ key: `preflight:${result.name}`, facts: result.facts })),
  };
}

function faultStatus(faults: readonly PreflightResult['name'][]): SetupStatus {
  if (faults.includes('not_read')) return 'failed';
  return faults.every((fault) => fault === 'template_pending') ? 'waiting' : 'needs_you';
}

/** Returns the step after a call that Meta refused. Its detail quotes Meta, so that an unknown error stays visible. */
export function refused(name: string, { failure, quote, code, subcode }: GraphFailure): SetupStep {
  const known = knownError(code, subcode);
  const details = quote === null ? [failure] : [failure, fillText(SETUP_TEXTS.quote, { quote })];
  // Only Meta's message helps if an error is temporary, or if a parameter was refused (100): the operator usually gave it.
  if (known === undefined || known.fault.kind === 'retry' || known.name === '100')
    return englishStep(name, 'failed', details.join(' '));
  const texts = ['meaning', 'remedy'].map((kind) => ({
    key: `providerErrors:${known.name}.${kind}`,
    facts: {},
  }));
  return {
    ...englishStep(name, 'needs_you', [...details, known.fault.reason, known.remedy].join(' ')),
    texts: quote === null ? texts : [...texts, { key: 'senderSetup:quote', facts: { quote } }],
  };
}

const SYSTEM_USERS = 'https://business.facebook.com/settings/system-users';
const MANAGER = 'https://business.facebook.com/wa/manage';

/** The pages of Meta for texts that are not about the object of their step. Source: the help pages of Meta Business Suite. */
const PAGES: Readonly<Record<string, string>> = {
  'preflight:token_invalid': SYSTEM_USERS,
  'preflight:scopes_missing': SYSTEM_USERS,
  'providerErrors:190.remedy': SYSTEM_USERS,
  'providerErrors:200.remedy': SYSTEM_USERS,
  'providerErrors:33.remedy': SYSTEM_USERS,
  'providerErrors:131031.remedy': 'https://business.facebook.com/accountquality',
};

/** Adds the page of Meta on which a person can act, if the step needs one. */
export function withLink(step: SetupStep, businessAccountId: string): SetupStep {
  // The step `sender` is about Onecode's own sender, for which Meta has no page.
  if (step.step === 'sender') return step;
  if (step.status !== 'needs_you' && step.status !== 'failed') return step;
  const page = step.step.startsWith('template') ? 'message-templates' : 'phone-numbers';
  const [link = `${MANAGER}/${page}/?waba_id=${businessAccountId}`] = step.texts.flatMap(
    ({ key }) => PAGES[key] ?? [],
  );
  return { ...step, link };
}
