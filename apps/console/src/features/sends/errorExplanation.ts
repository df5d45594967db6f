import type { AttemptOutcome } from '@onecode/domain';
import { explainError, type Explanation } from '@onecode/whatsapp';

/** A provider's error in plain words for integrators: in English, with the keys of its translation. */
export interface ExplanationView extends Pick<Explanation, 'meaning'> {
  /** Null if only operators can act. */
  remedy: Explanation['remedy'] | null;
}

/**
 * Explains a provider's error to integrators.
 *
 * @param code null if the provider gave none
 * @param outcome `recipient` for a receipt that reports a failure
 */
export function explanationView(
  code: number | null,
  outcome: Exclude<AttemptOutcome, 'accepted'>,
): ExplanationView {
  const { meaning, remedy, isForOperator } = explainError(code, outcome);
  return { meaning, remedy: isForOperator ? null : remedy };
}
