import { Anchor, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import { useMayOperate, useSession } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { Section } from '../../components/page.js';

/** Whether two-factor authentication is required for staff. Only an operator who has it may require it. */
export function StaffTwoFactor({ value }: { value: SettingsView['settings']['staffTwoFactor'] }) {
  const { t } = useTranslation(['settings', 'common']);
  const { showedBothFactors } = useSession().user;
  const mayOperate = useMayOperate();
  const [confirming, setConfirming] = useState(false);
  const next = value === 'required' ? 'optional' : 'required';
  const lacksOwn = next === 'required' && !showedBothFactors;
  return (
    <Section
      title={t('staffTwoFactor.title')}
      description={t('staffTwoFactor.description')}
      actions={
        mayOperate && (
          <Button
            size="xs"
            variant={next === 'required' ? 'filled' : 'default'}
            disabled={lacksOwn}
            onClick={() => setConfirming(true)}
          >
            {t(`staffTwoFactor.${next}.button`)}
          </Button>
        )
      }
    >
      <Text size="sm">{t(`staffTwoFactor.${value}.now`)}</Text>
      {mayOperate && lacksOwn && (
        <Text size="sm" c="dimmed">
          {t('staffTwoFactor.ownFirst')}{' '}
          <Anchor component={Link} to="/profile" inherit underline="always">
            {t('common:nav.profile')}
          </Anchor>
        </Text>
      )}
      <ConfirmChange
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t(`staffTwoFactor.${next}.button`)}
        action={t(`staffTwoFactor.${next}.button`)}
        color={next === 'required' ? 'brand' : 'red.9'}
        change={{
          method: 'PUT',
          path: '/staff/settings/staff-two-factor',
          body: { staffTwoFactor: next },
        }}
        stale={['/staff/settings', '/session', '/staff/audit']}
        done={t('common:saved')}
      >
        {t(`staffTwoFactor.${next}.what`)}
      </ConfirmChange>
    </Section>
  );
}
