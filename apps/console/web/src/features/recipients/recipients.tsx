import { IconUserCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useAccount } from '../../app/session.js';
import { ExhaustedRecipients } from './exhaustedRecipients.js';
import { Page } from '../../components/page.js';
import { EmptyState } from '../../components/states.js';

/** The page of recipients blocked after too many wrong codes; admins can reset them. */
export function Recipients() {
  const { t } = useTranslation(['recipients', 'common']);
  const { path, mayManage } = useAccount();
  return (
    <Page title={t('common:nav.recipients')} description={t('description')}>
      <ExhaustedRecipients
        account={path}
        mayReset={mayManage}
        empty={
          <EmptyState icon={IconUserCheck} title={t('empty.title')}>
            {t('empty.text')}
          </EmptyState>
        }
      />
    </Page>
  );
}
