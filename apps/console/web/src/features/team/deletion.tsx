import { useTranslation } from 'react-i18next';
import type { DeletionView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { post } from '../../hooks/change.js';

/** Lets admins schedule the deletion of the account. A banner on every page shows a scheduled one. */
export function Deletion() {
  const { t } = useTranslation('team');
  const { path, name, mayManage } = useAccount();
  const read = useData<DeletionView>(`${path}/deletion`);
  if (!mayManage || (read.data?.at ?? null) !== null) return null;
  return (
    <Section title={t('deletion.heading')} description={t('deletion.description')}>
      <Loaded read={read}>
        {() => (
          <ChangeButton
            button={{ size: 'sm', style: { alignSelf: 'flex-start' } }}
            text={t('deletion.ask')}
            title={t('deletion.title', { account: name })}
            action={t('deletion.action')}
            change={post(`${path}/deletion`)}
            stale={[`${path}/deletion`]}
            done={t('deletion.done')}
          >
            {t('deletion.text')}
          </ChangeButton>
        )}
      </Loaded>
    </Section>
  );
}
