import {
  CODE_CATEGORY,
  mergeFacts,
  parseMessagingLimit,
  senderBlock,
  templateLanguages,
  type BusinessAccountValues,
  type Facts,
  type NumberValues,
  type ReadPart,
  type Reported,
  type SenderKnowledge,
  type SenderReading,
  type TemplateValues,
} from '../senders/providerFacts.js';
import type { Locale } from '../sends/send.js';

/**
 * The checks of a sender before it is used, each with the text for a sender that passes. In all texts, `{{name}}` stands for a fact.
 */
const PASSED = {
  token_valid: 'Meta accepts the access token.',
  token_scopes: 'The access token has the required permissions.',
  number_connected: 'The number is connected.',
  template_pt_br: 'The template {{template}} ({{language}}) is approved and has a button for the code.',
  template_en: 'The template {{template}} ({{language}}) is approved and has a button for the code.',
  template_ttl: 'Meta delivers no message after its code has expired.',
  template_footer: 'The template footers match the code validity.',
  webhook_subscribed: "Meta sends this business account's webhooks to the app.",
  business_verified: 'Meta does not report the business as unverified.',
  messaging_limit: '{{people}} recipients in the last 24 hours, within the limit of {{limit}}.',
} as const;
export type PreflightCheck = keyof typeof PASSED;

/** The texts for faults, each with its remedy. */
const FAULTS = {
  unknown: 'Meta has not reported this. Check again; if it is still missing, look in WhatsApp Manager.',
  not_read:
    'Reading it from Meta failed: {{why}} Make sure that the token is valid, the network works and a worker is running, then check again.',
  token_invalid:
    'Meta does not accept the access token. Create a new one in Business settings, and replace it here.',
  token_expires:
    'The access token expires at {{at}}. Replace it with a system user’s token that does not expire.',
  scopes_missing:
    'The access token lacks {{scopes}}. Give the system user these permissions, and replace the token here.',
  number_status: 'Meta reports the number as {{status}}. Connect or register it in WhatsApp Manager.',
  number_quality:
    'Meta rates the quality of the number as low, because people block or report it. Send less from it, and check which recipients request codes and never enter them.',
  number_blocked: 'Meta does not allow the number to send: {{why}}. Do what WhatsApp Manager asks for.',
  template_missing:
    'Meta has no template {{template}} in {{language}}. Create it in WhatsApp Manager, category authentication.',
  template_pending: 'The template {{template}} ({{language}}) waits for Meta’s approval.',
  template_status:
    'The template {{template}} ({{language}}) is {{status}}{{reason}}. WhatsApp Manager shows what Meta asks for.',
  template_archived:
    'Meta has archived the template {{template}} ({{language}}) because it was not used for 12 months. Unarchive it in WhatsApp Manager within 28 days; after that, create another.',
  template_category:
    'The template {{template}} ({{language}}) is in the category {{category}}. Create one in the category authentication.',
  template_category_soon:
    'Meta will move the template {{template}} ({{language}}) to the category {{category}}. Appeal in WhatsApp Manager, or create another template.',
  template_button:
    'The template {{template}} ({{language}}) has no button for the code. Add a copy-code, one-tap or zero-tap button.',
  ttl_too_long:
    'Codes are valid for {{validity}}, but Meta delivers these templates for longer: {{templates}}. Shorten their validity period in WhatsApp Manager.',
  ttl_unknown:
    'These templates have no time to live: {{templates}}. Meta delivers their messages for 10 min, or for 30 days if they were created before 23 October 2024. Set their validity period in WhatsApp Manager to at most {{validity}}.',
  footer_differs:
    'Codes are valid for {{validity}}, but the footers of these templates differ: {{templates}}. Change the templates in WhatsApp Manager, or the code validity in the settings.',
  not_subscribed:
    'Meta does not send this business account’s webhooks to the app. Subscribe the app: POST /{business account}/subscribed_apps.',
  not_verified:
    'The business is not verified ({{status}}). Verify it in Business settings; until then its limit stays low.',
  limit_near:
    '{{people}} recipients in the last 24 hours, close to the limit of {{limit}} that all numbers of the business share. Ask Meta for a higher limit.',
  limit_reached:
    '{{people}} recipients in the last 24 hours have reached the limit of {{limit}} that all numbers of the business share. Meta refuses new recipients.',
} as const;
type Fault = keyof typeof FAULTS;

/** Faults of a sender that can send nevertheless. */
const WARNINGS: ReadonlySet<string> = new Set<Fault>([
  'token_expires',
  'number_quality',
  'template_category_soon',
  'ttl_unknown',
]);

export const PREFLIGHT_TEXTS = { ...PASSED, ...FAULTS };

export interface PreflightResult {
  check: PreflightCheck;
  ok: boolean;
  /** The sentence's name, by which it is translated. */
  name: keyof typeof PREFLIGHT_TEXTS;
  /** The facts in the sentence. */
  facts: Readonly<Record<string, string | number>>;
  /** The finding in English and, if the check failed, what to do. */
  text: string;
}

export interface PreflightInput extends Omit<SenderKnowledge, 'senderId' | 'alerts' | 'triedAt' | 'readAt'> {
  codeValiditySeconds: number;
  now: Date;
}

const DAY_SECONDS = 86_400;
/** Meta announces a category at most a month ahead, and does not report a withdrawn announcement. */
const ANNOUNCED_MS = 31 * DAY_SECONDS * 1000;
/** An operator should act when this share of the limit is reached. */
const LIMIT_SHARE_NEAR = 0.8;

/** The permissions that a sender's token needs. */
const TOKEN_SCOPES = ['whatsapp_business_management', 'whatsapp_business_messaging'];

interface Found {
  /** Null if the check passed. */
  fault: Fault | null;
  facts: PreflightResult['facts'];
}

/**
 * The checks, each with the part of the last read that it needs. A check returns null if Meta has not reported a fact that
 * it needs.
 */
const CHECKS: Readonly<
  Record<PreflightCheck, readonly [part: ReadPart, check: (input: PreflightInput) => Found | null]>
> = {
  token_valid: ['token', tokenValid],
  token_scopes: ['token', tokenScopes],
  number_connected: ['number', numberConnected],
  template_pt_br: ['templates', (input) => templateUsable(input, 'pt-BR')],
  template_en: ['templates', (input) => templateUsable(input, 'en')],
  template_ttl: ['templates', templateTtl],
  template_footer: ['templates', (input) => findTemplateFault(input, 'footer_differs', readOtherFooter)],
  webhook_subscribed: ['subscription', webhookSubscribed],
  business_verified: ['businessAccount', businessVerified],
  messaging_limit: ['number', messagingLimit],
};

/** Checks whether a sender can be relied on, based on the provider's latest reports. A check that could not be made fails. */
export function preflight(input: PreflightInput): PreflightResult[] {
  return (Object.keys(CHECKS) as PreflightCheck[]).map((check) => {
    const [part, find] = CHECKS[check];
    const why = input.failures[part];
    const { fault, facts } = why === undefined ? (find(input) ?? bad('unknown')) : bad('not_read', { why });
    const name = fault ?? check;
    return { check, ok: fault === null, name, facts, text: fillText(PREFLIGHT_TEXTS[name], facts) };
  });
}

/**
 * Returns the results of some checks for the parts of a sender that were just read.
 *
 * @param sender with the validity of codes if its templates were read
 */
export function checkReading(
  reading: Partial<SenderReading>,
  {
    template,
    english,
    codeValiditySeconds = 0,
  }: { template: string; english?: 'en' | 'en_US' | null; codeValiditySeconds?: number },
  ...checks: PreflightCheck[]
): PreflightResult[] {
  const now = new Date();
  const factsOf = <Values extends object>(values: Reported<Values> = {}): Facts<Values> =>
    mergeFacts<Values>({}, values, now);
  const results = preflight({
    template,
    englishTemplateLanguage: english ?? 'en',
    codeValiditySeconds,
    number: factsOf<NumberValues>(reading.number),
    businessAccount: factsOf<BusinessAccountValues>(reading.businessAccount),
    templates: (reading.templates ?? []).map(({ language, values }) => ({
      language,
      facts: factsOf(values),
    })),
    failures: reading.failures ?? {},
    recipients24h: null,
    now,
  });
  return results.filter(({ check }) => checks.includes(check));
}

/**
 * Returns whether a sender may be activated: it may send, and has a template in one language. Checks that could not be made do not allow
 * it.
 */
export function maySend(results: readonly PreflightResult[]): boolean {
  const allows = (check: PreflightCheck): boolean =>
    results.some((result) => result.check === check && (result.ok || isWarning(result)));
  return (
    (['token_valid', 'token_scopes', 'number_connected'] as const).every(allows) &&
    (['template_pt_br', 'template_en'] as const).some(allows)
  );
}

/** Returns whether a sender can send although a check failed. */
export const isWarning = ({ check, name }: PreflightResult): boolean =>
  WARNINGS.has(name) || check === 'business_verified';

/** Replaces each `{{name}}` in a text with the fact of this name. */
export const fillText = (text: string, facts: Found['facts']): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, fact: string) => String(facts[fact]));

const fine = (facts: Found['facts'] = {}): Found => ({ fault: null, facts });
const bad = (fault: Fault, facts: Found['facts'] = {}): Found => ({ fault, facts });

function tokenValid({ number, now }: PreflightInput): Found | null {
  const token = number.token?.value;
  if (token === undefined) return null;
  if (!token.isValid) return bad('token_invalid');
  const seconds = token.expiresAt - now.getTime() / 1000;
  if (token.expiresAt !== 0 && seconds < DAY_SECONDS)
    return bad('token_expires', { at: new Date(token.expiresAt * 1000).toISOString() });
  return fine();
}

function tokenScopes({ number }: PreflightInput): Found | null {
  const token = number.token?.value;
  // Meta reports no permissions of a token that is not valid.
  if (token === undefined || !token.isValid) return null;
  const missing = TOKEN_SCOPES.filter((scope) => !token.scopes.includes(scope));
  return missing.length === 0 ? fine() : bad('scopes_missing', { scopes: missing.join(', ') });
}

function numberConnected({ number, businessAccount }: PreflightInput): Found | null {
  const { status } = number;
  if (status === undefined) return null;
  if (status.value !== 'CONNECTED') return bad('number_status', { status: status.value });
  const block = senderBlock(number, businessAccount);
  if (block !== null) return bad('number_blocked', { why: block.replace(/\.$/, '') });
  return hasLowQuality(number) ? bad('number_quality') : fine();
}

/** Returns whether Meta rates a number's quality as low, because people block or report it. */
export const hasLowQuality = ({ quality }: Facts<NumberValues>): boolean => quality?.value === 'RED';

function templateUsable(input: PreflightInput, locale: Locale): Found {
  const language = templateLanguages(input.englishTemplateLanguage)[locale];
  const facts = input.templates.find((template) => template.language === language)?.facts;
  const named = { template: input.template, language };
  if (facts?.status === undefined) return bad('template_missing', named);
  if (facts.status.value === 'ARCHIVED') return bad('template_archived', named);
  if (facts.status.value === 'PENDING' || facts.status.value === 'IN_APPEAL')
    return bad('template_pending', named);
  if (facts.status.value !== 'APPROVED')
    return bad('template_status', {
      ...named,
      status: facts.status.value,
      reason: facts.reason?.value ? ` (${facts.reason.value})` : '',
    });
  if (facts.category !== undefined && facts.category.value !== CODE_CATEGORY)
    return bad('template_category', { ...named, category: facts.category.value });
  const { nextCategory: next } = facts;
  const isSoon = next !== undefined && input.now.getTime() - Date.parse(next.at) < ANNOUNCED_MS;
  if (isSoon && next.value !== null && next.value !== CODE_CATEGORY)
    return bad('template_category_soon', { ...named, category: next.value });
  return facts.hasCodeButton?.value === true ? fine(named) : bad('template_button', named);
}

/** Checks every existing template. A fault names each faulty language, with the value that `readFault` returns for it. */
function findTemplateFault(
  { templates: all, englishTemplateLanguage, codeValiditySeconds }: PreflightInput,
  name: Fault,
  readFault: (facts: Facts<TemplateValues>, codeValiditySeconds: number) => string | null,
): Found | null {
  const languages = Object.values(templateLanguages(englishTemplateLanguage));
  const templates = all.filter(
    ({ language, facts: { status } }) =>
      languages.includes(language) && status !== undefined && status.value !== 'DELETED',
  );
  if (templates.length === 0) return null;
  const faults = templates.flatMap(({ language, facts }) => {
    const value = readFault(facts, codeValiditySeconds);
    return value === null ? [] : [`${language} (${value})`];
  });
  if (faults.length === 0) return fine();
  return bad(name, { templates: faults.join(', '), validity: durationText(codeValiditySeconds) });
}

/**
 * Reports templates with a time to live that is too long or, if there are none, templates without one: their default depends on their
 * creation date, which is unknown.
 */
function templateTtl(input: PreflightInput): Found | null {
  const tooLong = findTemplateFault(input, 'ttl_too_long', readTooLongTtl);
  return tooLong === null || tooLong.fault !== null
    ? tooLong
    : findTemplateFault(input, 'ttl_unknown', ({ ttlSeconds }) => (ttlSeconds?.value == null ? '–' : null));
}

function readTooLongTtl(facts: Facts<TemplateValues>, codeValiditySeconds: number): string | null {
  const seconds = findValidityConflict(facts, codeValiditySeconds)?.ttlSeconds;
  return seconds === undefined ? null : durationText(seconds);
}

function readOtherFooter(facts: Facts<TemplateValues>, codeValiditySeconds: number): string | null {
  const isKnown = facts.codeExpirationMinutes !== undefined;
  const minutes = isKnown ? findValidityConflict(facts, codeValiditySeconds)?.footerMinutes : null;
  if (minutes === undefined) return null;
  return minutes === null ? '–' : `${minutes} min`;
}

/**
 * Returns a duration as text, in minutes if they are whole and otherwise in seconds. The text is the same in all languages of the console.
 */
const durationText = (seconds: number): string =>
  seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;

/** Returns the values of a template that contradict the validity of codes; null if none does, or Meta has not reported them. */
export function findValidityConflict(
  { codeExpirationMinutes, ttlSeconds }: Facts<TemplateValues>,
  codeValiditySeconds: number,
): ValidityConflict | null {
  const minutes = codeExpirationMinutes?.value;
  const seconds = ttlSeconds?.value;
  const footer = minutes !== undefined && (minutes === null || minutes * 60 !== codeValiditySeconds);
  const ttl = typeof seconds === 'number' && seconds > codeValiditySeconds;
  if (!footer && !ttl) return null;
  return { ...(footer && { footerMinutes: minutes }), ...(ttl && { ttlSeconds: seconds }) };
}

/**
 * The template values that contradict the validity of codes: the minutes in the footer (null without a footer), and the seconds for which
 * Meta tries to deliver.
 */
export interface ValidityConflict {
  footerMinutes?: number | null;
  ttlSeconds?: number;
}

function webhookSubscribed({ businessAccount: { isSubscribed } }: PreflightInput): Found | null {
  if (isSubscribed === undefined) return null;
  return isSubscribed.value ? fine() : bad('not_subscribed');
}

function businessVerified({ businessAccount: { verification } }: PreflightInput): Found {
  // Meta returns the verification only for some tokens.
  if (verification === undefined) return fine();
  return verification.value === 'VERIFIED' ? fine() : bad('not_verified', { status: verification.value });
}

function messagingLimit({ number, recipients24h }: PreflightInput): Found | null {
  const name = number.messagingLimit?.value;
  const most = parseMessagingLimit(name);
  if (name === undefined || most === null) return null;
  const people = recipients24h ?? 0;
  const facts = { people, limit: name };
  if (people >= most) return bad('limit_reached', facts);
  return people >= most * LIMIT_SHARE_NEAR ? bad('limit_near', facts) : fine(facts);
}
