import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Whether something is for tests or for real messages. */
export function ModeBadge({ mode }: { mode: 'test' | 'live' }) {
  const { t } = useTranslation();
  return <Badge color={mode === 'live' ? 'brand' : 'gray'}>{t(`mode.${mode}`)}</Badge>;
}
