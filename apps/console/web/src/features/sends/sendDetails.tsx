import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import type { StaffSendView } from '../../../../src/features/sends/view.js';
import { SendNextStep } from './nextStep.js';
import { SendPage, useSend } from './sendPage.js';
import { useAccount } from '../../app/session.js';
import { Fact } from '../../components/facts.js';

export function SendDetails() {
  const { t } = useTranslation(['sends', 'common']);
  const { path } = useAccount();
  const reading = useSend<SendDetailsView>(`${path}/sends`);
  const { data: send } = reading;
  return (
    <SendPage
      reading={reading}
      title={send ? t('details.title', { recipient: send.recipient }) : t('common:nav.sends')}
      back={{ to: `${path}/sends`, label: t('details.back') }}
      first={send && <SendNextStep send={send} />}
    >
      {send && (
        <Fact label={t('common:words.application')}>
          <Anchor component={Link} to={`${path}/applications/${send.application.id}`}>
            {send.application.name}
          </Anchor>
        </Fact>
      )}
    </SendPage>
  );
}

/** The page of one send of any account for staff, without the recipient. */
export function StaffSendDetails() {
  const { t } = useTranslation(['sends', 'accounts', 'common']);
  const reading = useSend<StaffSendView>('/staff/sends');
  const { data: send } = reading;
  return (
    <SendPage
      reading={reading}
      title={t('staff.title')}
      back={{ to: '/staff/accounts', label: t('accounts:back') }}
    >
      {send && (
        <>
          <Fact label={t('common:words.account')}>
            <Anchor component={Link} to={`/staff/accounts/${send.account.id}`}>
              {send.account.name}
            </Anchor>
          </Fact>
          <Fact label={t('common:words.application')}>{send.application.name}</Fact>
        </>
      )}
    </SendPage>
  );
}
