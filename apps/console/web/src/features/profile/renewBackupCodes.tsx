import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { replaceBackupCodes } from '../../api/auth.js';
import { Dialog } from '../../components/dialog.js';
import { BackupCodes } from './backupCodes.js';
import { PasswordForm } from './passwordForm.js';

/** Makes new backup codes, and shows them once. */
export function RenewBackupCodes({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = (): void => {
    setCodes(null);
    onClose();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={t(codes === null ? 'twoFactor.newCodes' : 'backupCodes.title')}
      persistent={codes !== null}
    >
      {codes === null ? (
        <PasswordForm
          action={t('backupCodes.renewAction')}
          onSubmit={async (password) => setCodes((await replaceBackupCodes(password)).backupCodes)}
          onClose={close}
        >
          {t('backupCodes.renew')}
        </PasswordForm>
      ) : (
        <BackupCodes codes={codes} onClose={close} />
      )}
    </Dialog>
  );
}
