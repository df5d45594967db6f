import { Button, Group, Text, Tooltip } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useSession } from './session.js';
import { EmptyState } from '../components/states.js';

/** Asks staff in the header of every page to turn on two-factor authentication, until they have. */
export function TwoFactorNotice() {
  const { t } = useTranslation();
  const { user, needsTwoFactor } = useSession();
  if (user.staff === null || user.showedBothFactors) return null;
  const kind = needsTwoFactor ? 'required' : 'optional';
  const title = t(`staffNotice.${kind}.title`);
  return (
    <Tooltip label={t(`staffNotice.${kind}.text`)} multiline w={320} withArrow>
      <Button
        component={Link}
        to="/profile"
        size="xs"
        variant="light"
        color="orange"
        aria-label={`${t('staffNotice.header')}: ${title}`}
      >
        <Group gap={8} wrap="nowrap">
          <IconShieldLock size={16} />
          <Text inherit visibleFrom="sm">
            {t('staffNotice.header')}
          </Text>
        </Group>
      </Button>
    </Tooltip>
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
