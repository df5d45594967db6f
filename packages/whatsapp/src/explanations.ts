import type { AttemptOutcome, Locale } from '@onecode/domain';
import { ERROR_TABLE } from './errorTable.js';
import { EN } from './explanations/en.js';
import { PT_BR } from './explanations/ptBR.js';
import type { ExplanationTexts, Texts } from './explanations/texts.js';

/** Who can do something about an error: the recipient, whoever operates the service, the provider, or nobody but time. */
export type Whose = 'recipient' | 'us' | 'provider' | 'nobody';

/** An error of the provider's in plain words. */
export interface Explanation {
  /** What happened to the message: for whoever asked for it. */
  meaning: string;
  /** What to do: for whoever can do something. */
  remedy: string;
  whose: Whose;
}

const TEXTS: Record<Locale, ExplanationTexts> = { en: EN, 'pt-BR': PT_BR };

const WHOSE_BY_OUTCOME: Record<AttemptOutcome, Whose> = {
  accepted: 'nobody',
  retry: 'provider',
  unknown: 'nobody',
  sender: 'us',
  recipient: 'recipient',
  config: 'us',
};

/** Where the class of a code does not say who can do something. */
const WHOSE_BY_CODE: ReadonlyMap<number, Whose> = new Map([
  // Limits: ours to raise, or gone in a moment.
  [4, 'us'],
  [80007, 'us'],
  [130429, 'us'],
  [131056, 'nobody'],
  // Maintenance.
  [131057, 'provider'],
  [2494100, 'provider'],
  // Recipients that can do nothing about it.
  [130403, 'us'],
  [130472, 'nobody'],
  [131049, 'nobody'],
]);

/**
 * Says in plain words what an error of the provider's means and what to do. Never fails: what no code explains is told by how the
 * attempt ended. The codes are Meta's ("Error codes" of the WhatsApp Business Platform), the words ours.
 *
 * @param code the provider's, or null where it gave none
 * @param outcome how the attempt ended; `recipient` for a receipt that reports a failure
 */
export function explainError(code: number | null, outcome: AttemptOutcome, language: Locale): Explanation {
  const [meaning, remedy] = textsOf(code, outcome, TEXTS[language]);
  return { meaning, remedy, whose: whoseTurn(code, outcome) };
}

function textsOf(code: number | null, outcome: AttemptOutcome, texts: ExplanationTexts): Texts {
  if (code === 100 && outcome === 'sender') return texts.unknownSender;
  // The whole range are permissions: see `classifyError`.
  const known = code !== null && code > 200 && code <= 299 ? 200 : code;
  return (known === null ? undefined : texts.codes.get(known)) ?? texts.outcomes[outcome];
}

function whoseTurn(code: number | null, outcome: AttemptOutcome): Whose {
  const own = code === null ? undefined : WHOSE_BY_CODE.get(code);
  // By the code's own class where it has one: a receipt reports every failure alike.
  const kind = code === null ? undefined : ERROR_TABLE.get(code)?.(code).kind;
  return own ?? WHOSE_BY_OUTCOME[kind ?? outcome];
}
