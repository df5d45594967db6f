import { useTranslation } from 'react-i18next';
import type { ExplanationView } from '../../../src/features/sends/errorExplanation.js';
import type { ptBR } from '../locales/pt-BR/index.js';

type Kind = keyof typeof ptBR.providerErrors;

/** Returns the function that says what a provider's error means, or what to do, in the user's language. */
export function useErrorText(): <K extends Kind>(kind: K, text: ExplanationView['meaning']) => string {
  const { t } = useTranslation('providerErrors');
  return (kind, { name, english }) => t(`${kind}.${name}` as 'meanings.0', { defaultValue: english });
}
