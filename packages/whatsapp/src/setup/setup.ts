import type { GraphCall } from '../client.js';
import { readTemplates } from '../graph.js';
import { checkToken, subscribe } from './access.js';
import { chooseNumber, readHealth, readNumbers, register } from './number.js';
import type { FoundNumber, SetupOptions } from './options.js';
import { numbersPage, refused, step, type SetupStep } from './steps.js';
import { provideTemplates } from './templates.js';

export type { FoundNumber, SetupNumber, SetupOptions } from './options.js';
export { englishStep, SETUP_TEXTS, step, type SetupStep } from './steps.js';
export { sendTestCode } from './testCode.js';

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
  if ('failure' in numbers) return failed(refused('number', 'The numbers could not be read.', numbers));
  if (numbers.value.length === 0)
    return failed(step('number', 'needs_you', 'no_number', {}, numbersPage(options.businessAccountId)));
  const templates = await readTemplates(call, options, options.businessAccountId);
  if ('failure' in templates)
    return failed(refused('templates', 'The templates could not be read.', templates));

  const languages = new Set(templates.value.map(({ language }) => language));
  // The English language in which the template exists; `en` if it exists in none or in both.
  const english: 'en' | 'en_US' = languages.has('en_US') && !languages.has('en') ? 'en_US' : 'en';
  return {
    steps: [token],
    account: { appId, numbers: numbers.value, templates: templates.value, english },
  };
}

/** The steps without which a sender is not activated. */
const REQUIRED = /^(?:registration|subscription|sender|health|template_\w+)$/;

/** Returns the unfinished steps that prevent the activation of a sender. */
export const openSteps = (steps: readonly SetupStep[]): SetupStep[] =>
  steps.filter((one) => REQUIRED.test(one.step) && !isWell(one));

/** Returns whether the following steps may rely on a step. */
export const isWell = ({ status }: SetupStep): boolean => status === 'done' || status === 'already';
