import { Alert, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DeletionView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { useTimes } from '../../hooks/formats.js';
import { post, remove } from '../../hooks/change.js';

/** The deletion of the account: all members see one that is scheduled, and admins schedule it and take it back. */
export function Deletion() {
  const { t } = useTranslation('team');
  const { path, name, mayManage } = useAccount();
  const read = useData<DeletionView>(`${path}/deletion`);
  const time = useTimes();
  const stale = [`${path}/deletion`];
  if (!mayManage && (read.data?.at ?? null) === null) return null;
  return (
    <Section title={t('deletion.heading')} {...(mayManage && { description: t('deletion.description') })}>
      <Loaded read={read}>
        {({ at }) =>
          at === null ? (
            <ChangeButton
              button={{ size: 'sm', style: { alignSelf: 'flex-start' } }}
              text={t('deletion.ask')}
              title={t('deletion.title', { account: name })}
              action={t('deletion.action')}
              change={post(`${path}/deletion`)}
              stale={stale}
              done={t('deletion.done')}
            >
              {t('deletion.text')}
            </ChangeButton>
          ) : (
            <Alert color="red" variant="light" title={t('deletion.scheduled')}>
              <Text>{t('deletion.until', { at: time(at) })}</Text>
              {mayManage && (
                <ChangeButton
                  button={{ size: 'sm', mt: 'sm' }}
                  title={t('deletion.keeping', { account: name })}
                  action={t('deletion.keep')}
                  color="brand"
                  change={remove(`${path}/deletion`)}
                  stale={stale}
                  done={t('deletion.kept')}
                >
                  {t('deletion.keepText')}
                </ChangeButton>
              )}
            </Alert>
          )
        }
      </Loaded>
    </Section>
  );
}
