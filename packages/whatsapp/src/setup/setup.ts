import { setTimeout as wait } from 'node:timers/promises';
import {
  generateCode,
  templateLanguages,
  TOKEN_SCOPES,
  type NumberValues,
  type PhoneRecipient,
} from '@onecode/domain';
import type { CloudApi, GraphCall } from '../client.js';
import { readTemplates, readToken } from '../graph.js';
import { members, objects } from '../json.js';
import { chooseNumber, readHealth, readNumbers, register } from './number.js';
import {
  englishStep,
  numbersPage,
  refused,
  step,
  type FoundNumber,
  type SetupOptions,
  type SetupStep,
} from './steps.js';
import { provideTemplates } from './templates.js';

export * from './steps.js';

/**
 * Sets up a number at Meta: checks the token, reads the business account, registers the number, subscribes the app to the business account,
 * adds the sender, creates the templates, waits for their approval and reads whether the number can send. It reads before it writes, so
 * that a later run continues after an interruption. Existing objects are not changed, except templates if `mayChangeTemplates` is set.
 *
 * The last state of each step counts. Ends early if a step that later steps need fails.
 */
export async function* setUpNumber(call: GraphCall, options: SetupOptions): AsyncGenerator<SetupStep, void> {
  const { steps, account } = await readAccount(call, options);
  yield* steps;
  if (account === null) return;
  const { step: choice, number } = chooseNumber(account.numbers, options);
  yield choice;
  if (number === null) return;

  const registration = await register(call, options, number);
  yield registration;
  yield await subscribe(call, options, account.appId);
  const englishTemplateLanguage = options.english ?? account.english;
  const { phoneNumberId, number: e164, throughput } = number;
  if (options.addSender)
    yield await options.addSender({ phoneNumberId, number: e164, throughput, englishTemplateLanguage });
  yield* provideTemplates(call, options, ['pt_BR', englishTemplateLanguage], account.templates);
  if (isWell(registration)) yield await readHealth(call, options, number);
}

/**
 * Returns the numbers of a business account, and the English language of its template; or the step that a person has to act on.
 */
export async function listNumbers(
  call: GraphCall,
  options: AccountOptions,
): Promise<{ numbers: FoundNumber[]; english: 'en' | 'en_US' } | { step: SetupStep }> {
  const { steps, account } = await readAccount(call, options);
  return account ?? { step: steps.at(-1) as SetupStep };
}

type AccountOptions = Pick<SetupOptions, 'token' | 'businessAccountId' | 'template'>;

/** Checks the token and reads a business account. @returns null for the account if the last step failed */
async function readAccount(call: GraphCall, options: AccountOptions) {
  const { step: token, appId } = await checkToken(call, options.token);
  if (!isWell(token)) return { steps: [token], account: null };
  const failed = (step: SetupStep) => ({ steps: [token, step], account: null });

  const numbers = await readNumbers(call, options);
  if ('failure' in numbers) return failed(refused('number', numbers));
  if (numbers.value.length === 0)
    return failed(step('number', 'needs_you', 'no_number', {}, numbersPage(options.businessAccountId)));
  const templates = await readTemplates(call, options);
  if ('failure' in templates) return failed(refused('templates', templates));

  const languages = new Set(templates.value.map(({ language }) => language));
  // The English language in which the template exists; `en` if it exists in none or in both.
  const english: 'en' | 'en_US' = languages.has('en_US') && !languages.has('en') ? 'en_US' : 'en';
  return {
    steps: [token],
    account: { appId, numbers: numbers.value, templates: templates.value, english },
  };
}

/** Checks the token. @returns the step, and the id of the token's app if Meta reports it */
async function checkToken(
  call: GraphCall,
  token: string,
): Promise<{ step: SetupStep; appId: string | null }> {
  const read = await readToken(call, token);
  if ('value' in read) return { step: tokenStep(read.value.values), appId: read.value.appId };
  // Some tokens are not allowed to inspect themselves. The later calls show whether the token works.
  const failed = read.isTemporary
    ? refused('token', read)
    : englishStep('token', 'already', `The token could not be inspected. ${read.failure}`);
  return { step: failed, appId: null };
}

function tokenStep({ isValid, scopes, expiresAt }: NumberValues['token']): SetupStep {
  if (!isValid) return step('token', 'needs_you', 'token_invalid');
  const missing = TOKEN_SCOPES.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    return step('token', 'needs_you', 'token_permissions', { scopes: missing.join(', ') });
  if (expiresAt === 0) return step('token', 'already', 'token_accepted');
  return step('token', 'already', 'token_expires', { at: new Date(expiresAt * 1000).toISOString() });
}

/** Subscribes the token's app to the business account, so that Meta sends it webhooks. */
async function subscribe(
  call: GraphCall,
  { token, businessAccountId, isDryRun }: SetupOptions,
  appId: string | null,
): Promise<SetupStep> {
  const name = 'subscription';
  const node = `${businessAccountId}/subscribed_apps`;
  const subscribed = await call(token, node, { query: {} });
  if ('failure' in subscribed) return refused(name, subscribed);
  const ids = objects(subscribed.value['data']).map(
    (app) => members(app['whatsapp_business_api_data'])['id'],
  );
  if (appId === null ? ids.length > 0 : ids.includes(appId))
    return step(name, 'already', 'subscribed_before');
  if (isDryRun) return step(name, 'waiting', 'would_subscribe');
  const result = await call(token, node, { body: {} });
  return 'failure' in result ? refused(name, result) : step(name, 'done', 'subscribed');
}

/** Returns whether the following steps may rely on a step. */
export const isWell = ({ status }: SetupStep): boolean => status === 'done' || status === 'already';

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
