import type { AttemptOutcome, Locale } from '@onecode/domain';
import { explainError, type Whose } from '@onecode/whatsapp';

/** An error of the provider's in plain words, in every language of the pages. */
export interface ExplanationView {
  whose: Whose;
  meaning: Record<Locale, string>;
  /** Null where it is the operators' turn: integrators can do nothing about it. */
  remedy: Record<Locale, string> | null;
}

/** What an error means to an integrator. `outcome` is `recipient` for a receipt that reports a failure. */
export function explanationView(code: number | null, outcome: AttemptOutcome): ExplanationView {
  const en = explainError(code, outcome, 'en');
  const ptBR = explainError(code, outcome, 'pt-BR');
  return {
    whose: en.whose,
    meaning: { en: en.meaning, 'pt-BR': ptBR.meaning },
    remedy: en.whose === 'us' ? null : { en: en.remedy, 'pt-BR': ptBR.remedy },
  };
}
