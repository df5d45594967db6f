import { Alert, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { DeletionView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { useTimes } from '../../hooks/formats.js';

/** The deletion of the account: all members see one that is scheduled, and admins schedule it and take it back. */
export function Deletion() {
  const { t } = useTranslation('team');
  const { path, name, mayManage } = useAccount();
  const [opened, { open, close }] = useDisclosure();
  const read = useData<DeletionView>(`${path}/deletion`);
  const time = useTimes();
  const stale = [`${path}/deletion`];
  if (!mayManage && (read.data?.at ?? null) === null) return null;
  return (
    <Section title={t('deletion.heading')} {...(mayManage && { description: t('deletion.description') })}>
      <Loaded read={read}>
        {({ at }) =>
          at === null ? (
            <>
              <Button variant="default" onClick={open} style={{ alignSelf: 'flex-start' }}>
                {t('deletion.ask')}
              </Button>
              <ConfirmChange
                opened={opened}
                onClose={close}
                title={t('deletion.title', { account: name })}
                action={t('deletion.action')}
                change={{ method: 'POST', path: `${path}/deletion` }}
                stale={stale}
                done={t('deletion.done')}
              >
                {t('deletion.text')}
              </ConfirmChange>
            </>
          ) : (
            <Alert color="red" variant="light" title={t('deletion.scheduled')}>
              <Text size="sm">{t('deletion.until', { at: time(at) })}</Text>
              {mayManage && (
                <>
                  <Button variant="default" mt="sm" onClick={open}>
                    {t('deletion.keep')}
                  </Button>
                  <ConfirmChange
                    opened={opened}
                    onClose={close}
                    title={t('deletion.keeping', { account: name })}
                    action={t('deletion.keep')}
                    color="brand"
                    change={{ method: 'DELETE', path: `${path}/deletion` }}
                    stale={stale}
                    done={t('deletion.kept')}
                  >
                    {t('deletion.keepText')}
                  </ConfirmChange>
                </>
              )}
            </Alert>
          )
        }
      </Loaded>
    </Section>
  );
}
