import { Badge } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMayOperate } from '../app/session.js';

/** Says to on-call staff why nothing can be pressed here. */
export function ReadOnlyNote() {
  const { t } = useTranslation('staff');
  if (useMayOperate()) return null;
  return (
    <Badge color="gray" size="lg" leftSection={<IconEye size={14} />}>
      {t('readOnly')}
    </Badge>
  );
}
