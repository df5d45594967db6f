import { Badge, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StaffAccountView } from '../../../src/features/accounts/view.js';

/** Whether an account may send: active, or suspended, or held, or both. */
export function AccountState({ account }: { account: Pick<StaffAccountView, 'suspendedAt' | 'held'> }) {
  const { t } = useTranslation('staff');
  return (
    <Group gap={4}>
      {account.suspendedAt !== null && <Badge color="red">{t('accounts.state.suspended')}</Badge>}
      {account.held && <Badge color="orange">{t('accounts.state.held')}</Badge>}
      {account.suspendedAt === null && !account.held && (
        <Badge color="teal">{t('accounts.state.active')}</Badge>
      )}
    </Group>
  );
}
