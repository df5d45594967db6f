import { setTimeout as wait } from 'node:timers/promises';
import { readTemplates } from '../graph.js';
import type { GraphCall } from '../graphCalls.js';
import { checkToken, subscribe } from './access.js';
import { findNumber, readHealth, register } from './number.js';
import { step, type SetupStep } from './steps.js';
import { existingEnglish, provideTemplates, readWith } from './templates.js';

export { openGraph } from '../graphCalls.js';
export type { SetupStatus, SetupStep } from './steps.js';

/** A number that is being set up. */
export interface SetupNumber {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  englishTemplateLanguage: 'en' | 'en_US';
  /** Messages a second that Meta accepts from it. */
  throughput: number;
}

export interface SetupOptions {
  token: string;
  businessAccountId: string;
  /** E.164; null for the only number of the business account. */
  number: string | null;
  /** The two-step PIN of the number, or the one that it gets; null if it is not known. */
  pin: string | null;
  template: string;
  /** Null for the language in which the template exists, and `en` if it exists in neither. */
  english: 'en' | 'en_US' | null;
  codeValiditySeconds: number;
  /** Reads only: a step that would change something is `waiting`, and its detail says what it would do. */
  isDryRun: boolean;
  /** Whether an existing template that differs may be changed. */
  mayChangeTemplates: boolean;
  /** How long to wait for the approval of templates. */
  approvalMs: number;
  /** Returns whether an earlier run has set up the number. */
  isKnown: (phoneNumberId: string) => Promise<boolean>;
  /** Adds the sender, paused, or finds that it exists. */
  addSender: (number: SetupNumber) => Promise<SetupStep>;
}

/**
 * Sets up a number at Meta: checks the token, finds the number, registers it, subscribes the app to the business account, adds the sender,
 * creates the templates, waits for their approval and reads whether the number can send. Each step reads before it writes, so that a run
 * after an interruption continues. Nothing that exists is changed, except templates with `mayChangeTemplates`.
 *
 * Yields a step whenever its state changes; the last state of each step counts. Ends early when the following steps need one that failed.
 */
export async function* setUpNumber(graph: GraphCall, options: SetupOptions): AsyncGenerator<SetupStep, void> {
  const call = repeating(graph);
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

  const templates = await readTemplates(readWith(call), options, options.businessAccountId);
  if ('failure' in templates) {
    yield step('templates', 'failed', `The templates could not be read: ${templates.failure}`);
    return;
  }
  const english = options.english ?? existingEnglish(templates.value);
  const { id: phoneNumberId, e164, throughput } = number;
  yield await options.addSender({
    phoneNumberId,
    number: e164,
    englishTemplateLanguage: english,
    throughput,
  });
  yield* provideTemplates(call, options, ['pt_BR', english], templates.value);
  if (isWell(registration)) yield await readHealth(call, options, number);
}

/** Returns whether the following steps may rely on a step. */
export const isWell = ({ status }: SetupStep): boolean => status === 'done' || status === 'already';

const TRIES = 3;
const REPEAT_MS = 500;

/** Repeats calls that failed for a temporary reason. All calls of the setup may be repeated: creating a template twice is refused. */
const repeating =
  (graph: GraphCall): GraphCall =>
  async (...request) => {
    let result = await graph(...request);
    for (let tries = 1; tries < TRIES && 'failure' in result && result.isTemporary; tries++) {
      await wait(REPEAT_MS * tries);
      result = await graph(...request);
    }
    return result;
  };
