import { Button } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { EmptyState } from '../components/states.js';

/** In place of every page of the staff's, for one who needs a second factor and has none: why, and where to turn it on. */
export function TwoFactorRequired() {
  const { t } = useTranslation();
  return (
    <EmptyState
      icon={IconShieldLock}
      title={t('staffNotice.required.title')}
      order={1}
      action={
        <Button component={Link} to="/profile" mt="sm">
          {t('staffNotice.action')}
        </Button>
      }
    >
      {t('staffNotice.required.text')}
    </EmptyState>
  );
}
