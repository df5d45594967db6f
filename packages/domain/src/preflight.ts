import {
  CODE_CATEGORY,
  messagingLimitOf,
  senderStop,
  templateLanguages,
  type BusinessAccountValues,
  type Facts,
  type NumberValues,
  type SenderReading,
  type TemplateValues,
} from './providerFacts.js';
import type { Locale } from './send.js';

/** What is looked at before a sender is relied on. */
export const PREFLIGHT_CHECKS = [
  'token_valid',
  'token_scopes',
  'number_connected',
  'template_pt_br',
  'template_en',
  'template_ttl',
  'template_footer',
  'webhook_subscribed',
  'business_verified',
  'messaging_limit',
] as const;
export type PreflightCheck = (typeof PREFLIGHT_CHECKS)[number];

/** What was found; the pages and commands have a sentence for each, which says what to do. */
export type PreflightFinding =
  | 'fine'
  | 'unknown'
  | 'not_read'
  | 'token_invalid'
  | 'token_expires'
  | 'scopes_missing'
  | 'number_status'
  | 'number_blocked'
  | 'template_missing'
  | 'template_status'
  | 'template_category'
  | 'template_button'
  | 'ttl_too_long'
  | 'footer_differs'
  | 'not_subscribed'
  | 'not_verified'
  | 'limit_near'
  | 'limit_reached';

export interface PreflightResult {
  check: PreflightCheck;
  ok: boolean;
  finding: PreflightFinding;
  /** What the sentence names. */
  facts: Readonly<Record<string, string | number>>;
}

export interface PreflightInput {
  number: Facts<NumberValues>;
  businessAccount: Facts<BusinessAccountValues>;
  templates: readonly { language: string; facts: Facts<TemplateValues> }[];
  /** Why parts of the last read failed. */
  failures: Partial<Record<keyof SenderReading, string>>;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  codeValiditySeconds: number;
  recipients24h: number;
  now: Date;
}

const SCOPES = ['whatsapp_business_management', 'whatsapp_business_messaging'];
const DAY_SECONDS = 86_400;
/** The time after which Meta drops an undelivered message of this category unless the template says another. */
const TTL_SECONDS_USUAL = 600;
/** From this share of the limit on, an operator should act. */
const LIMIT_SHARE_NEAR = 0.8;

type Found = Omit<PreflightResult, 'check'>;

/** Whether a sender can be relied on, by what the provider last said of it. A check that could not be made is not ok. */
export function preflight(input: PreflightInput): PreflightResult[] {
  const languages = templateLanguages(input.englishTemplateLanguage);
  const found: Record<PreflightCheck, () => Found> = {
    token_valid: () => tokenValid(input),
    token_scopes: () => tokenScopes(input),
    number_connected: () => numberConnected(input),
    template_pt_br: () => templateUsable(input, languages['pt-BR']),
    template_en: () => templateUsable(input, languages.en),
    template_ttl: () => templateTtl(input, languages),
    template_footer: () => templateFooter(input, languages),
    webhook_subscribed: () => webhookSubscribed(input),
    business_verified: () => businessVerified(input),
    messaging_limit: () => messagingLimit(input),
  };
  return PREFLIGHT_CHECKS.map((check) => ({ check, ...found[check]() }));
}

const fine = (facts: Found['facts'] = {}): Found => ({ ok: true, finding: 'fine', facts });
const bad = (finding: PreflightFinding, facts: Found['facts'] = {}): Found => ({ ok: false, finding, facts });
/** A part that the last read could not find out, or that Meta does not tell. */
const unknown = ({ failures }: PreflightInput, part: keyof SenderReading): Found =>
  failures[part] === undefined ? bad('unknown') : bad('not_read', { why: failures[part] });

function tokenValid(input: PreflightInput): Found {
  const { failures, number, now } = input;
  const token = number.token?.value;
  if (token === undefined || failures.token !== undefined) return unknown(input, 'token');
  if (!token.isValid) return bad('token_invalid');
  const seconds = token.expiresAt - now.getTime() / 1000;
  if (token.expiresAt !== 0 && seconds < DAY_SECONDS)
    return bad('token_expires', { at: new Date(token.expiresAt * 1000).toISOString() });
  return fine();
}

function tokenScopes(input: PreflightInput): Found {
  const token = input.number.token?.value;
  if (token === undefined || input.failures.token !== undefined) return unknown(input, 'token');
  const missing = SCOPES.filter((scope) => !token.scopes.includes(scope));
  return missing.length === 0 ? fine() : bad('scopes_missing', { scopes: missing.join(', ') });
}

function numberConnected(input: PreflightInput): Found {
  const { status } = input.number;
  if (input.failures.number !== undefined || status === undefined) return unknown(input, 'number');
  if (status.value !== 'CONNECTED') return bad('number_status', { status: status.value });
  const stop = senderStop(input.number, input.businessAccount, input.now);
  return stop === null ? fine() : bad('number_blocked', { why: stop.word.replace(/\.$/, '') });
}

function templateUsable(input: PreflightInput, language: string): Found {
  const facts = input.templates.find((template) => template.language === language)?.facts;
  const named = { template: input.template, language };
  if (input.failures.templates !== undefined) return unknown(input, 'templates');
  if (facts?.status === undefined) return bad('template_missing', named);
  if (facts.status.value !== 'APPROVED')
    return bad('template_status', {
      ...named,
      status: facts.status.value,
      reason: facts.reason?.value ? ` (${facts.reason.value})` : '',
    });
  if (facts.category !== undefined && facts.category.value !== CODE_CATEGORY)
    return bad('template_category', { ...named, category: facts.category.value });
  return facts.hasCopyCodeButton?.value === true ? fine(named) : bad('template_button', named);
}

type Languages = Record<Locale, string>;

const readTemplates = ({ templates }: PreflightInput, languages: Languages): PreflightInput['templates'] =>
  templates.filter(
    ({ language, facts }) =>
      Object.values(languages).includes(language) &&
      facts.status !== undefined &&
      facts.status.value !== 'DELETED',
  );

function templateTtl(input: PreflightInput, languages: Languages): Found {
  if (input.failures.templates !== undefined) return unknown(input, 'templates');
  const templates = readTemplates(input, languages);
  if (templates.length === 0) return bad('unknown');
  for (const { language, facts } of templates) {
    const seconds = facts.ttlSeconds?.value ?? TTL_SECONDS_USUAL;
    if (seconds > input.codeValiditySeconds)
      return bad('ttl_too_long', { language, seconds, validity: input.codeValiditySeconds });
  }
  return fine();
}

/** Templates whose footer says another time than codes live. */
function templateFooter(input: PreflightInput, languages: Languages): Found {
  if (input.failures.templates !== undefined) return unknown(input, 'templates');
  const templates = readTemplates(input, languages);
  if (templates.length === 0) return bad('unknown');
  for (const { language, facts } of templates) {
    const minutes = facts.codeExpirationMinutes?.value ?? null;
    if (!footerSaysValidity(minutes, input.codeValiditySeconds))
      return bad('footer_differs', { language, footer: minutes ?? '-', validity: input.codeValiditySeconds });
  }
  return fine();
}

/** Whether a footer says how long codes live, in whole minutes as footers do. */
export function footerSaysValidity(minutes: number | null, codeValiditySeconds: number): boolean {
  return minutes !== null && minutes * 60 === codeValiditySeconds;
}

function webhookSubscribed(input: PreflightInput): Found {
  const { isSubscribed } = input.businessAccount;
  if (input.failures.subscription !== undefined || isSubscribed === undefined)
    return unknown(input, 'subscription');
  return isSubscribed.value ? fine() : bad('not_subscribed');
}

function businessVerified(input: PreflightInput): Found {
  const { verification } = input.businessAccount;
  if (input.failures.businessAccount !== undefined) return unknown(input, 'businessAccount');
  // Meta tells it to some tokens only.
  if (verification === undefined) return fine();
  return verification.value === 'VERIFIED' ? fine() : bad('not_verified', { status: verification.value });
}

function messagingLimit(input: PreflightInput): Found {
  const name = input.number.messagingLimit?.value;
  if (name === undefined) return unknown(input, 'number');
  const most = messagingLimitOf(name);
  if (most === null) return bad('unknown');
  const facts = { people: input.recipients24h, limit: name };
  if (input.recipients24h >= most) return bad('limit_reached', facts);
  return input.recipients24h >= most * LIMIT_SHARE_NEAR ? bad('limit_near', facts) : fine(facts);
}
