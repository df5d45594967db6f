import type { AttemptOutcome, Locale } from '@onecode/domain';
import { explainError, type Explanation } from '@onecode/whatsapp';

/** A provider's error in plain words, in each language of the pages: the reader may switch at any time. */
export type ExplanationsView = Readonly<Record<Locale, Explanation>>;

/** What a provider's code (null where it gave none) and the outcome that it came with mean. */
export function explanations(code: number | null, outcome: AttemptOutcome): ExplanationsView {
  return { en: explainError(code, outcome, 'en'), 'pt-BR': explainError(code, outcome, 'pt-BR') };
}
