import { Anchor, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SettingsView } from '../../../../src/features/settings/view.js';
import { useMayOperate, useSession } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Section } from '../../components/page.js';
import { put } from '../../hooks/change.js';

/** Whether two-factor authentication is required for staff. Only an operator who has it may require it. */
export function StaffTwoFactor({ value }: { value: SettingsView['settings']['staffTwoFactor'] }) {
  const { t } = useTranslation(['settings', 'common']);
  const { showedBothFactors } = useSession().user;
  const mayOperate = useMayOperate();
  const next = value === 'required' ? 'optional' : 'required';
  const lacksOwn = next === 'required' && !showedBothFactors;
  return (
    <Section
      title={t('staffTwoFactor.title')}
      description={t('staffTwoFactor.description')}
      actions={
        mayOperate && (
          <ChangeButton
            button={{ variant: next === 'required' ? 'filled' : 'default', disabled: lacksOwn }}
            title={t(`staffTwoFactor.${next}.button`)}
            action={t(`staffTwoFactor.${next}.button`)}
            color={next === 'required' ? 'brand' : 'red.9'}
            change={put('/staff/settings/staff-two-factor', { staffTwoFactor: next })}
            asksReason
            stale={['/staff/settings', '/session', '/staff/audit']}
            done={t('common:saved')}
          >
            {t(`staffTwoFactor.${next}.what`)}
          </ChangeButton>
        )
      }
    >
      <Text>{t(`staffTwoFactor.${value}.now`)}</Text>
      {mayOperate && lacksOwn && (
        <Text c="dimmed">
          {t('staffTwoFactor.ownFirst')}{' '}
          <Anchor component={Link} to="/profile" inherit underline="always">
            {t('common:nav.profile')}
          </Anchor>
        </Text>
      )}
    </Section>
  );
}
