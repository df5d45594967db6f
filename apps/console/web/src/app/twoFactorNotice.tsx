import { Alert, Button, Group, Text } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useSession } from './session.js';
import { EmptyState } from '../components/states.js';

/** Asks staff on every page to turn on two-factor authentication, until they have. */
export function TwoFactorNotice() {
  const { t } = useTranslation();
  const { user, needsTwoFactor } = useSession();
  if (user.staff === null || user.hasTwoFactor) return null;
  const kind = needsTwoFactor ? 'required' : 'optional';
  return (
    <Alert
      color="yellow"
      variant="default"
      mb="lg"
      icon={<IconShieldLock size={18} />}
      title={t(`staffNotice.${kind}.title`)}
    >
      <Group justify="space-between">
        <Text size="sm" maw={720}>
          {t(`staffNotice.${kind}.text`)}
        </Text>
        <Button component={Link} to="/profile" size="xs" variant="default">
          {t('staffNotice.action')}
        </Button>
      </Group>
    </Alert>
  );
}

/** Replaces every staff page for staff who lack required two-factor authentication. */
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
