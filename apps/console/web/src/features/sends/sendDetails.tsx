import { Anchor } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import { useAccount } from '../../app/session.js';
import { Fact } from '../../components/fact.js';
import { SendPage, useSend } from './sendPage.js';
import { SendNextStep } from './nextStep.js';

/** One send: what to do next, what happened to it, and what it is. */
export function SendDetails() {
  const { t } = useTranslation(['sends', 'common']);
  const { path } = useAccount();
  const reading = useSend<SendDetailsView>(`${path}/sends`);
  const { send } = reading;
  return (
    <SendPage
      reading={reading}
      title={send ? t('details.title', { recipient: send.recipient }) : t('common:nav.sends')}
      back={{ to: `${path}/sends`, label: t('details.back') }}
      first={send && <SendNextStep send={send} />}
    >
      {send && (
        <Fact label={t('columns.application')}>
          <Anchor component={Link} to={`${path}/applications/${send.application.id}`} size="sm">
            {send.application.name}
          </Anchor>
        </Fact>
      )}
    </SendPage>
  );
}
