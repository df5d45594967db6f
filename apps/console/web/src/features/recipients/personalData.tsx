import { useTranslation } from 'react-i18next';
import { useAccount } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { RecipientRequests } from './recipientRequests.js';

/** The page on which admins export or erase the data of people who ask for it. */
export function PersonalData() {
  const { t } = useTranslation(['recipients', 'common']);
  const { path } = useAccount();
  return (
    <Page title={t('common:nav.personal-data')} description={t('requests.description')}>
      <RecipientRequests account={path} />
    </Page>
  );
}
