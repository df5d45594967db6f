import { useTranslation } from 'react-i18next';
import { Page } from '../../components/page.js';
import { Details } from './details.js';
import { Password } from './password.js';
import { Sessions } from './sessions.js';
import { TwoFactor } from './twoFactor.js';

/** What concerns the person: name and language, password, second factor, sessions. */
export function Profile() {
  const { t } = useTranslation('profile');
  return (
    <Page title={t('title')}>
      <Details />
      <TwoFactor />
      <Password />
      <Sessions />
    </Page>
  );
}
