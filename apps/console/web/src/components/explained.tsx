import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ExplanationView } from '../../../src/features/sends/errorExplanation.js';

/** Why the provider refused, and what to do about it, in the reader's language. */
export function Explained({
  explanation: { meaning, remedy },
  withRemedy = true,
}: {
  explanation: ExplanationView;
  withRemedy?: boolean;
}) {
  const { t, i18n } = useTranslation('sends');
  const language = i18n.language === 'pt-BR' ? 'pt-BR' : 'en';
  const todo = remedy === null ? t('timeline.ours') : remedy[language];
  return (
    <Text size="sm" mt={4}>
      {meaning[language]} {withRemedy && todo}
    </Text>
  );
}
