import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { readSession, turnTwoFactorOff } from '../../api/auth.js';
import { Dialog } from '../../components/dialog.js';
import { PasswordForm } from './passwordForm.js';

/** Turns the second factor off. */
export function TurnOff({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const client = useQueryClient();
  const turnOff = async (password: string): Promise<void> => {
    await turnTwoFactorOff(password);
    await readSession(client);
    onClose();
    notifications.show({ message: t('twoFactor.turnedOff') });
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={t('turningOff.title')}>
      <PasswordForm action={t('turningOff.action')} color="red.9" onSubmit={turnOff} onClose={onClose}>
        {t('turningOff.text')}
      </PasswordForm>
    </Dialog>
  );
}
