import { readTemplates } from '../graph.js';
import type { GraphCall } from '../client.js';
import { checkToken, subscribe } from './access.js';
import { findNumber, readHealth, readNumbers, register } from './number.js';
import type { FoundNumber, SetupOptions } from './options.js';
import { englishStep, type SetupStep } from './steps.js';
import { existingEnglish, provideTemplates } from './templates.js';

export type { FoundNumber, SetupNumber, SetupOptions } from './options.js';
export { englishStep, SETUP_TEXTS, step, type SetupStep } from './steps.js';
export { sendTestCode } from './testCode.js';

/**
 * Sets up a number at Meta: checks the token, finds the number, registers it, subscribes the app to the business account, adds the sender,
 * creates the templates, waits for their approval and reads whether the number can send. Each step reads before it writes, so that a later
 * run continues after an interruption. Existing objects are not changed, except templates if `mayChangeTemplates` is set.
 *
 * The last state of each step counts. Ends early if a step that later steps need fails.
 */
export async function* setUpNumber(call: GraphCall, options: SetupOptions): AsyncGenerator<SetupStep, void> {
  const token = await checkToken(call, options.token);
  yield token.step;
  if (!isWell(token.step)) return;

  const found = await findNumber(call, options);
  yield found.step;
  if (found.number === null) return;
  const { number } = found;

  const registration = await register(call, options, number);
  yield registration;
  yield await subscribe(call, options, token.appId);

  const templates = await readTemplates(call, options, options.businessAccountId);
  if ('failure' in templates) {
    yield englishStep('templates', 'failed', `The templates could not be read: ${templates.failure}`);
    return;
  }
  const english = options.english ?? existingEnglish(templates.value);
  const { phoneNumberId, number: e164, throughput } = number;
  const added = { phoneNumberId, number: e164, throughput, englishTemplateLanguage: english };
  yield await options.addSender(added);
  yield* provideTemplates(call, options, ['pt_BR', english], templates.value);
  if (isWell(registration)) yield await readHealth(call, options, number);
}

/**
 * Returns the numbers of a business account, and the English language of its template; or the step that a person has to act on.
 */
export async function listNumbers(
  call: GraphCall,
  options: Pick<SetupOptions, 'token' | 'businessAccountId' | 'template'>,
): Promise<{ numbers: FoundNumber[]; english: 'en' | 'en_US' } | { step: SetupStep }> {
  const token = await checkToken(call, options.token);
  if (!isWell(token.step)) return { step: token.step };
  const read = await readNumbers(call, options);
  if ('step' in read) return read;
  const templates = await readTemplates(call, options, options.businessAccountId);
  if ('failure' in templates)
    return {
      step: englishStep('templates', 'failed', `The templates could not be read: ${templates.failure}`),
    };
  return { numbers: read.numbers, english: existingEnglish(templates.value) };
}

/** The steps without which a sender is not activated. */
const REQUIRED = /^(?:registration|subscription|sender|health|template_\w+)$/;

/** Returns the unfinished steps that prevent the activation of a sender. */
export const openSteps = (steps: readonly SetupStep[]): SetupStep[] =>
  steps.filter((one) => REQUIRED.test(one.step) && !isWell(one));

/** Returns whether the following steps may rely on a step. */
export const isWell = ({ status }: SetupStep): boolean => status === 'done' || status === 'already';
