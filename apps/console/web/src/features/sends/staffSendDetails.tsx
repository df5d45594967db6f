import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { StaffSendView } from '../../../../src/features/sends/view.js';
import { Fact } from '../../components/fact.js';
import { SendPage, useSend } from './sendPage.js';

/** One send of any account, as its integrators see it, but not whom it went to. */
export function StaffSendDetails() {
  const { t } = useTranslation(['staff', 'sends']);
  const reading = useSend<StaffSendView>('/operations/sends');
  const { send } = reading;
  return (
    <SendPage
      reading={reading}
      title={t('send.title')}
      back={{ to: '/operations/accounts', label: t('account.back') }}
    >
      {send && (
        <>
          <Fact label={t('accounts.columns.name')}>
            <Anchor component={Link} to={`/operations/accounts/${send.account.id}`} size="sm">
              {send.account.name}
            </Anchor>
          </Fact>
          <Fact label={t('sends:columns.application')}>{send.application.name}</Fact>
        </>
      )}
    </SendPage>
  );
}
