import { useTranslation } from 'react-i18next';
import type { ExplanationView } from '../../../src/features/sends/errorExplanation.js';

/** Returns the function that gives the meaning or the remedy of a provider's error, in the user's language. */
export function useErrorText(): (kind: 'meaning' | 'remedy', explanation: ExplanationView) => string {
  const { t } = useTranslation('providerErrors');
  // An error that only a newer server knows is shown in English.
  return (kind, explanation) =>
    t(`${explanation.name}.${kind}` as '190.meaning', { defaultValue: explanation[kind] ?? '' });
}
