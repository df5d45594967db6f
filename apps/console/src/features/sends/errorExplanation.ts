import type { AttemptOutcome } from '@onecode/domain';
import { explainError, type Explanation } from '@onecode/whatsapp';

/** A provider's error in plain words for integrators: in English, with the key of its translation. */
export interface ExplanationView extends Pick<Explanation, 'name' | 'meaning'> {
  /** Null if only operators can act. */
  remedy: string | null;
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
  const { name, meaning, remedy, isForOperator } = explainError(code, outcome);
  return { name, meaning, remedy: isForOperator ? null : remedy };
}
