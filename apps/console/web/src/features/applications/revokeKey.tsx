import { Alert, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, KeyView } from '../../../../src/features/applications/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Confirm } from '../../components/dialog.js';
import { Ago } from '../../components/times.js';

/** Asks before a key is revoked, and says what then stops working. */
export function RevokeKey({
  application,
  apiKey,
  opened,
  isLast,
  onClose,
}: {
  application: ApplicationView;
  apiKey: KeyView;
  opened: boolean;
  isLast: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation('account');
  const list = `${useAccount().path}/applications`;
  const revoke = useChange(list);
  const { label, hint } = apiKey;
  const name = label === null ? hint : `${label} (${hint})`;
  const close = (): void => {
    revoke.reset();
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={close}
      title={t('keys.revokeTitle')}
      action={t('keys.revoke')}
      pending={revoke.isPending}
      problem={revoke.error}
      onConfirm={() =>
        revoke.mutate(
          { method: 'POST', path: `${list}/${application.id}/keys/${apiKey.id}/revoke` },
          {
            onSuccess: () => {
              notifications.show({ message: t('keys.revokedNow', { key: name }) });
              close();
            },
          },
        )
      }
    >
      <Stack gap="sm">
        <Text inherit style={{ overflowWrap: 'anywhere' }}>
          {t('keys.revokeText', { key: name })}
        </Text>
        {apiKey.lastUsedAt === null ? (
          <Text inherit>{t('keys.revokeNever')}</Text>
        ) : (
          <div>
            {t('keys.revokeUsed')} <Ago at={apiKey.lastUsedAt} />
          </div>
        )}
        {isLast && (
          <Alert color="orange" icon={<IconAlertTriangle size={18} />}>
            {t('keys.revokeLast')}
          </Alert>
        )}
      </Stack>
    </Confirm>
  );
}
