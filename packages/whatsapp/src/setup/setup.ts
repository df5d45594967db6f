import { setTimeout as wait } from 'node:timers/promises';
import {
  canonicalNumber,
  checkReading,
  CODE_CATEGORY,
  generateCode,
  templateLanguages,
  type NumberValues,
  type PhoneRecipient,
  type PreflightResult,
  type SenderReading,
} from '@onecode/domain';
import type { CloudApi, GraphCall, GraphFailure } from '../client.js';
import {
  isSubscribed,
  readNumbers,
  readSender,
  readTemplates,
  readToken,
  type FoundNumber,
  type ReadTemplate,
} from '../graph.js';
import {
  checked,
  englishStep,
  isWell,
  refused,
  step,
  withLink,
  type SetupOptions,
  type SetupStep,
} from './steps.js';

export * from './steps.js';

/**
 * The pause after the first read of the result; the nth pause is n times as long, but ends with `approvalMs`. Meta approves most templates
 * for codes within seconds, and limits calls per hour.
 */
const READ_PAUSE_MS = 3_000;

/**
 * Sets up a number at Meta: checks the token, reads the business account, registers the number, subscribes the app to the business account,
 * adds the sender, creates the templates, and reads the result until nothing waits any more or `approvalMs` has passed. It reads before it
 * writes, so that a later run continues after an interruption. Existing objects are not changed, except templates if `mayChangeTemplates` is
 * set.
 *
 * The last state of each step counts. Ends early if a step that later steps need fails.
 */
export async function* setUpNumber(call: GraphCall, options: SetupOptions): AsyncGenerator<SetupStep, void> {
  for await (const step of takeSteps(call, options)) yield withLink(step, options.businessAccountId);
}

async function* takeSteps(call: GraphCall, options: SetupOptions): AsyncGenerator<SetupStep, void> {
  const account = await listNumbers(call, options);
  if ('step' in account) {
    yield account.step;
    return;
  }
  yield account.token;
  const { step: choice, number } = chooseNumber(account.numbers, options.number);
  yield choice;
  if (number === null) return;

  const registration = await register(call, options, number);
  yield registration;
  yield await subscribe(call, options, account.appId);
  const english = options.english ?? account.english;
  if (options.addSender) yield await options.addSender({ ...number, englishTemplateLanguage: english });
  const templates: ProvidedTemplate[] = [];
  for (const language of ['pt_BR', english])
    templates.push(await provideTemplate(call, options, language, account.templates));

  const endsAt = performance.now() + (options.isDryRun ? 0 : options.approvalMs);
  for (let read = 1; ; read++) {
    const reading = await readSender(call, { ...options, phoneNumberId: number.phoneNumberId });
    const steps = templates.map((template) => templateStep(options, template, reading));
    if (isWell(registration)) steps.push(healthStep(options, reading, registration));
    yield* steps;
    if (steps.every(({ status }) => status !== 'waiting') || performance.now() >= endsAt) return;
    await wait(Math.min(read * READ_PAUSE_MS, endsAt - performance.now()));
  }
}

type AccountOptions = Pick<SetupOptions, 'token' | 'businessAccountId' | 'template'>;

/** Checks the token and reads a business account. Returns the step that a person has to act on if that fails. */
export async function listNumbers(call: GraphCall, options: AccountOptions) {
  const failed = (step: SetupStep) => ({ step: withLink(step, options.businessAccountId) });
  const read = await readToken(call, options.token);
  // Some tokens are not allowed to inspect themselves. The later calls show whether the token works.
  if ('failure' in read && read.code === null) return failed(refused('token', read));
  const token =
    'failure' in read
      ? englishStep('token', 'already', `The token could not be inspected. ${read.failure}`)
      : checkToken(read.value.values, options);
  if (!isWell(token)) return failed(token);

  const numbers = await readNumbers(call, options);
  if ('failure' in numbers) return failed(refused('number', numbers));
  if (numbers.value.length === 0) return failed(step('number', 'needs_you', 'no_number'));
  const templates = await readTemplates(call, options);
  if ('failure' in templates) return failed(refused('templates', templates));

  const languages = new Set(templates.value.map(({ language }) => language));
  // The English language in which the template exists; `en` if it exists in none or in both.
  const english: 'en' | 'en_US' = languages.has('en_US') && !languages.has('en') ? 'en_US' : 'en';
  return {
    token,
    appId: 'value' in read ? read.value.appId : null,
    numbers: numbers.value,
    templates: templates.value,
    english,
  };
}

function checkToken(token: NumberValues['token'], options: AccountOptions): SetupStep {
  const results = checkReading({ number: { token } }, options, 'token_valid', 'token_scopes');
  if (results.every(({ ok }) => ok) && token.expiresAt !== 0)
    return step('token', 'already', 'token_expires', { at: new Date(token.expiresAt * 1000).toISOString() });
  return checked('token', results);
}

/** Returns the wanted number of the business account, or its only number; null if a person has to choose. */
function chooseNumber(
  numbers: readonly FoundNumber[],
  wanted: string | null,
): { step: SetupStep; number: FoundNumber | null } {
  const [number, ...others] = numbers.filter(
    (one) => wanted === null || canonicalNumber(one.number) === canonicalNumber(wanted),
  );
  const textOf = ({ number, verifiedName, status, quality }: FoundNumber): string =>
    [number, verifiedName, status, quality].filter((text) => text !== '').join(', ');
  if (number !== undefined && (wanted !== null || others.length === 0))
    return { step: englishStep('number', 'already', `${textOf(number)}.`), number };
  const fault =
    wanted === null
      ? 'The business account has several numbers: choose one.'
      : `The business account has no number ${wanted}. It has:`;
  const detail = `${fault} ${numbers.map(textOf).join('; ')}.`;
  return { step: englishStep('number', 'needs_you', detail), number: null };
}

/**
 * Registers the number for the Cloud API, unless it is known to be registered. Meta limits registrations to ten in 72 hours, and shows
 * numbers as connected that were never registered.
 */
async function register(
  call: GraphCall,
  { token, pin, isDryRun, isKnown }: SetupOptions,
  { phoneNumberId, status }: FoundNumber,
): Promise<SetupStep> {
  const name = 'registration';
  if (status === 'CONNECTED' && (await isKnown(phoneNumberId))) return step(name, 'already', 'connected');
  if (pin === null) return step(name, 'needs_you', 'pin_missing');
  if (isDryRun) return step(name, 'waiting', 'would_register');
  const body = { messaging_product: 'whatsapp', pin };
  const result = await call(token, `${phoneNumberId}/register`, { body });
  return 'failure' in result ? refused(name, result) : step(name, 'done', 'registered');
}

/** Subscribes the token's app to the business account, so that Meta sends it webhooks, unless it is known to be subscribed. */
async function subscribe(call: GraphCall, options: SetupOptions, appId: string | null): Promise<SetupStep> {
  const name = 'subscription';
  const known = await isSubscribed(call, options, appId);
  if ('failure' in known) return refused(name, known);
  if (known.value) return step(name, 'already', 'subscribed');
  if (options.isDryRun) return step(name, 'waiting', 'would_subscribe');
  const result = await call(options.token, `${options.businessAccountId}/subscribed_apps`, { body: {} });
  return 'failure' in result ? refused(name, result) : step(name, 'done', 'subscribed');
}

/** Returns the values of a template that fit the validity of codes. A footer has whole minutes, and Meta accepts at most 15 minutes to live. */
const fittingValues = (codeValiditySeconds: number) => ({
  category: CODE_CATEGORY,
  ttlSeconds: Math.min(codeValiditySeconds, 900),
  codeExpirationMinutes: Math.max(1, Math.floor(codeValiditySeconds / 60)),
});

/** Returns the template that the setup creates. Source: Meta, "Copy code button authentication templates". */
function wantedTemplate(codeValiditySeconds: number) {
  const { category, ttlSeconds, codeExpirationMinutes } = fittingValues(codeValiditySeconds);
  return {
    category,
    message_send_ttl_seconds: ttlSeconds,
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: codeExpirationMinutes },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
    ],
  };
}

/** A template of the setup in one language. */
interface ProvidedTemplate {
  language: string;
  /** The change that it needs; it is only planned in a dry run. */
  change: 'create' | 'change' | null;
  /** Why Meta did not accept the change. */
  refusal: GraphFailure | null;
}

/** Creates a template that is missing in a language, and changes one that differs if that is allowed. */
async function provideTemplate(
  call: GraphCall,
  options: SetupOptions,
  language: string,
  templates: readonly ReadTemplate[],
): Promise<ProvidedTemplate> {
  const { token, businessAccountId, template: name, codeValiditySeconds, isDryRun } = options;
  const before = templates.find((template) => template.language === language);
  const change = planChange(options, before);
  if (change === null || isDryRun) return { language, change, refusal: null };
  const wanted = wantedTemplate(codeValiditySeconds);
  const result = await (before?.id == null
    ? call(token, `${businessAccountId}/message_templates`, { body: { name, language, ...wanted } })
    : call(token, before.id, { body: wanted }));
  return { language, change, refusal: 'failure' in result ? result : null };
}

/** Returns the change that a template needs and that the options allow; null for none. @param found what Meta has in this language */
function planChange(
  { mayChangeTemplates, codeValiditySeconds }: SetupOptions,
  found: ReadTemplate | undefined,
): ProvidedTemplate['change'] {
  if (found === undefined) return 'create';
  // A change would replace the template's button, which names an app.
  if (!mayChangeTemplates || found.id === null || found.hasAppButton) return null;
  const { category, ttlSeconds, codeExpirationMinutes, hasCodeButton } = found.values;
  const wanted = fittingValues(codeValiditySeconds);
  const fits =
    hasCodeButton === true &&
    category === wanted.category &&
    codeExpirationMinutes === wanted.codeExpirationMinutes &&
    (ttlSeconds ?? Infinity) <= wanted.ttlSeconds;
  return fits ? null : 'change';
}

/** Returns the results of the checks of one language. */
function checkTemplate(
  options: SetupOptions,
  language: string,
  reading: Partial<SenderReading>,
): PreflightResult[] {
  const usable = language === 'pt_BR' ? 'template_pt_br' : 'template_en';
  const english = language === 'en_US' ? 'en_US' : 'en';
  return checkReading(reading, { ...options, english }, usable, 'template_ttl', 'template_footer');
}

/** Returns the state of a template. @param reading what Meta has now */
function templateStep(
  options: SetupOptions,
  { language, change, refusal }: ProvidedTemplate,
  reading: SenderReading,
): SetupStep {
  const { template, codeValiditySeconds, isDryRun } = options;
  const name = `template_${language}`;
  if (change !== null && isDryRun)
    return step(name, 'waiting', `would_${change}_template`, { template, language });
  const found = reading.templates?.find((one) => one.language === language);
  // A new template may exist although the response to its creation was lost.
  if (refusal !== null && (change === 'change' || found === undefined)) return refused(name, refusal);
  // All checks have the same reason.
  if (reading.templates === null) return checked(name, checkTemplate(options, language, reading).slice(0, 1));
  // Meta does not list a new template at once.
  const now = found ?? { language, values: { status: 'PENDING', ...fittingValues(codeValiditySeconds) } };
  return checked(name, checkTemplate(options, language, { templates: [now] }), change !== null);
}

/** Returns the step that checks whether Meta allows the number and its business account to send, and whether the business is verified. */
function healthStep(options: SetupOptions, reading: SenderReading, registration: SetupStep): SetupStep {
  const results = checkReading(reading, options, 'number_connected', 'business_verified');
  const health = checked('health', results);
  // Meta may take seconds to show a number that was just registered as connected.
  const isConnecting = registration.status === 'done' && results.some(({ name }) => name === 'number_status');
  return isConnecting ? { ...health, status: 'waiting' } : health;
}

interface TestCodeOptions {
  token: string;
  phoneNumberId: string;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  to: PhoneRecipient;
  /** A new id that no send has. Meta returns it in receipts. */
  sendId: string;
  /** How long to wait for the receipts. */
  receiptMs: number;
  /** Returns the statuses that Meta has reported for a message so far. */
  listStatuses: (messageId: string) => Promise<string[]>;
}

const RECEIPT_POLL_MS = 500;

/** Sends a code from a number and waits for its receipts, which reach the API like those of all messages. */
export async function sendTestCode(cloudApi: CloudApi, options: TestCodeOptions): Promise<SetupStep> {
  const { token, phoneNumberId, template, to, receiptMs } = options;
  const name = 'test';
  const code = generateCode();
  const locale = to.country === 'BR' ? 'pt-BR' : 'en';
  const outcome = await cloudApi.sendCode(
    { phoneNumberId, token },
    {
      to: to.e164,
      code,
      template,
      language: templateLanguages(options.englishTemplateLanguage)[locale],
      attempt: { sendId: options.sendId, number: 1 },
      identityHash: null,
    },
  );
  if (outcome.kind !== 'accepted') {
    const number = outcome.errorCode === null ? '' : ` (error ${outcome.errorCode})`;
    return englishStep(name, 'failed', `Meta did not accept the test message${number}: ${outcome.reason}`);
  }
  const startedAt = performance.now();
  let statuses: string[] = [];
  const has = (...names: string[]): boolean => names.some((status) => statuses.includes(status));
  while (!has('failed', 'delivered', 'read') && performance.now() - startedAt < receiptMs) {
    await wait(RECEIPT_POLL_MS);
    statuses = await options.listStatuses(outcome.messageId);
  }
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  if (has('failed')) return step(name, 'failed', 'test_failed');
  if (has('delivered', 'read')) return step(name, 'done', 'test_delivered', { code, seconds });
  if (has('sent')) return step(name, 'waiting', 'test_sent', { code, seconds });
  return step(name, 'needs_you', 'test_unreported', { code });
}
