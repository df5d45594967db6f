import type { AttemptOutcome, Locale } from '@onecode/domain';
import { explainError, type Explanation, type Whose } from '@onecode/whatsapp';

/** A provider's error in plain words for operators, in every language: the reader may switch at any time. */
export type OperatorExplanationView = Readonly<Record<Locale, Explanation>>;

/** A provider's error in plain words for integrators, in every language of the pages. */
export interface ExplanationView {
  whose: Whose;
  meaning: Record<Locale, string>;
  /** Null where only operators can act. */
  remedy: Record<Locale, string> | null;
}

/** Explains a provider's error to operators. @param code null where the provider gave none */
export function operatorExplanationView(
  code: number | null,
  outcome: AttemptOutcome,
): OperatorExplanationView {
  return { en: explainError(code, outcome, 'en'), 'pt-BR': explainError(code, outcome, 'pt-BR') };
}

/** Explains a provider's error to integrators. @param outcome `recipient` for a receipt that reports a failure */
export function explanationView(code: number | null, outcome: AttemptOutcome): ExplanationView {
  const { en, 'pt-BR': ptBR } = operatorExplanationView(code, outcome);
  return {
    whose: en.whose,
    meaning: { en: en.meaning, 'pt-BR': ptBR.meaning },
    remedy: en.whose === 'us' ? null : { en: en.remedy, 'pt-BR': ptBR.remedy },
  };
}
