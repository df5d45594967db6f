import { useTranslation } from 'react-i18next';
import type { ExplanationView } from '../../../src/features/sends/errorExplanation.js';

/** Returns the function that says what a provider's error means, or what to do, in the user's language. */
export function useErrorText(): (kind: 'meanings' | 'remedies', text: ExplanationView['meaning']) => string {
  const { t } = useTranslation('providerErrors');
  // The server may know an error that these pages do not, whose English they show then.
  return (kind, { name, english }) => t(`${kind}.${name}` as 'meanings.0', { defaultValue: english });
}
