import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useMayOperate } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { ReleaseButton, useHoldChange } from '../holds/holdChange.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { CreditsDialog } from './creditsDialog.js';

type DialogName = 'credits' | 'suspend' | 'resume' | 'hold';

/** Actions of operators on an account. */
export function AccountActions({ account }: { account: StaffAccountDetailsView }) {
  const { t } = useTranslation(['accounts', 'holds', 'common']);
  const [open, setOpen] = useState<DialogName | null>(null);
  const close = (): void => setOpen(null);
  const change = useAccountChange(`/staff/accounts/${account.id}`, close);
  const holds = useHoldChange(close);
  if (!useMayOperate()) return null;

  const suspended = account.suspendedAt !== null;
  const hold = { kind: 'account', target: account.id } as const;
  return (
    <>
      {account.held ? (
        <ReleaseButton hold={hold} size="sm" />
      ) : (
        <Button variant="default" onClick={() => setOpen('hold')}>
          {t('holds:target.account.button')}
        </Button>
      )}
      <Button variant="default" onClick={() => setOpen(suspended ? 'resume' : 'suspend')}>
        {t(suspended ? 'resume.button' : 'suspend.button')}
      </Button>
      <Button onClick={() => setOpen('credits')}>{t('credits.button')}</Button>

      <CreditsDialog account={account} opened={open === 'credits'} onClose={close} />
      <ReasonDialog
        opened={open === 'hold'}
        onClose={close}
        title={t('hold')}
        action={t('holds:target.account.button')}
        pending={holds.pending}
        problem={holds.problem}
        onConfirm={(reason) => holds.set(hold, reason)}
      >
        {t('holds:target.account.what')}
      </ReasonDialog>
      <ReasonDialog
        opened={open === 'suspend'}
        onClose={close}
        title={t('suspend.title')}
        action={t('suspend.button')}
        pending={change.pending}
        problem={change.problem}
        onConfirm={(reason) => change.send({ method: 'POST', path: '/suspend', body: { reason } })}
      >
        {t('suspend.what')}
      </ReasonDialog>
      <ConfirmChange
        opened={open === 'resume'}
        onClose={close}
        title={t('resume.title')}
        color="brand"
        action={t('resume.button')}
        change={{ method: 'POST', path: `/staff/accounts/${account.id}/resume` }}
        stale={['/staff/accounts', '/staff/audit']}
        done={t('common:saved')}
      >
        {t('resume.what')}
      </ConfirmChange>
    </>
  );
}
