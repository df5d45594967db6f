import { Alert, Group, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DeletionView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Time } from '../../components/times.js';
import { remove } from '../../hooks/change.js';

const REFRESH_MS = 60_000;

/**
 * Shows on every page of an account that it will be deleted.
 *
 * @param path of the account below `/api`
 * @param name of the account of an admin, who may cancel the deletion; null for all other users
 */
export function DeletionBanner({ path, name }: { path: string; name: string | null }) {
  const { t } = useTranslation('team');
  const { data } = useData<DeletionView>(`${path}/deletion`, { refreshMs: REFRESH_MS });
  const at = data?.at ?? null;
  if (at === null) return null;
  return (
    <Alert color="red" variant="light" icon={<IconTrash size={20} />} mb="lg" role="alert">
      <Group justify="space-between" gap="xs">
        <div>
          <Text fw={650}>
            {t('deletion.scheduled')} <Time at={at} />
          </Text>
          <Text>{t(name === null ? 'deletion.untilByAdmin' : 'deletion.until')}</Text>
        </div>
        {name !== null && (
          <ChangeButton
            text={t('deletion.cancel')}
            title={t('deletion.keeping', { account: name })}
            action={t('deletion.keep')}
            color="brand"
            change={remove(`${path}/deletion`)}
            stale={[`${path}/deletion`]}
            done={t('deletion.kept')}
          >
            {t('deletion.keepText')}
          </ChangeButton>
        )}
      </Group>
    </Alert>
  );
}
