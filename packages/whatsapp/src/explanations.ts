import type { AttemptOutcome, Locale } from '@onecode/domain';
import { ERROR_TABLE } from './errorTable.js';
import { EN } from './explanations/en.js';
import { PT_BR } from './explanations/ptBR.js';
import type { ExplanationTexts, Texts } from './explanations/texts.js';

/** Who can act on an error. `us`: who operates the service. `nobody`: it passes by itself, or stays. */
export type Whose = 'recipient' | 'us' | 'provider' | 'nobody';

/** A provider's error in plain words. */
export interface Explanation {
  /** What happened to the message, for the integrator. */
  meaning: string;
  /** What to do, for whoever can act. */
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

/** Codes whose class does not say who can act. */
const WHOSE_BY_CODE: ReadonlyMap<number, Whose> = new Map([
  // Limits: we can have them raised, or they pass in a moment.
  [4, 'us'],
  [80007, 'us'],
  [130429, 'us'],
  [131056, 'nobody'],
  // Maintenance.
  [131057, 'provider'],
  [2494100, 'provider'],
  // Refusals that the recipient cannot change.
  [130403, 'us'],
  [130472, 'nobody'],
  [131049, 'nobody'],
]);

/**
 * Explains a provider's error in plain words: what it means and what to do. Without a known code, the outcome of the attempt is
 * explained. The codes are Meta's ("Error codes" of the WhatsApp Business Platform), the words ours.
 *
 * @param code the provider's code, or null where it gave none
 * @param outcome how the attempt ended; `recipient` for a receipt that reports a failure
 */
export function explainError(code: number | null, outcome: AttemptOutcome, language: Locale): Explanation {
  const [meaning, remedy] = textsOf(code, outcome, TEXTS[language]);
  return { meaning, remedy, whose: whoseTurn(code, outcome) };
}

function textsOf(code: number | null, outcome: AttemptOutcome, texts: ExplanationTexts): Texts {
  if (code === 100 && outcome === 'sender') return texts.unknownSender;
  // The whole range is about permissions, as in `classifyError`.
  const known = code !== null && code > 200 && code <= 299 ? 200 : code;
  return (known === null ? undefined : texts.codes.get(known)) ?? texts.outcomes[outcome];
}

function whoseTurn(code: number | null, outcome: AttemptOutcome): Whose {
  const own = code === null ? undefined : WHOSE_BY_CODE.get(code);
  // A known code's own class goes first: receipts report all failures with the same outcome.
  const kind = code === null ? undefined : ERROR_TABLE.get(code)?.(code).kind;
  return own ?? WHOSE_BY_OUTCOME[kind ?? outcome];
}
