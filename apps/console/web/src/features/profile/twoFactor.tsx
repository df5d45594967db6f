import { Badge, Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RenewBackupCodes } from './backupCodes.js';
import { PasswordForm } from './passwordForm.js';
import { TurnOn } from './turnOnTwoFactor.js';
import { readSession, turnTwoFactorOff } from '../../api/auth.js';
import { useSession } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Section } from '../../components/page.js';

/** Two-factor authentication of the user: on, off, backup codes. */
export function TwoFactor() {
  const { t } = useTranslation('profile');
  const { user, needsTwoFactor } = useSession();
  const { hasTwoFactor } = user;
  const [open, setOpen] = useState<'on' | 'off' | 'codes' | null>(null);
  const close = (): void => setOpen(null);
  return (
    <Section
      title={t('twoFactor.title')}
      description={t('twoFactor.description')}
      actions={
        hasTwoFactor ? (
          <>
            <Button size="xs" variant="default" onClick={() => setOpen('codes')}>
              {t('twoFactor.newCodes')}
            </Button>
            {!needsTwoFactor && (
              <Button size="xs" variant="default" onClick={() => setOpen('off')}>
                {t('twoFactor.turnOff')}
              </Button>
            )}
          </>
        ) : (
          <Button size="xs" onClick={() => setOpen('on')}>
            {t('twoFactor.turnOn')}
          </Button>
        )
      }
    >
      <Badge color={hasTwoFactor ? 'teal' : 'gray'}>
        {t(hasTwoFactor ? 'twoFactor.on' : 'twoFactor.off')}
      </Badge>
      {needsTwoFactor && (
        <Text size="sm" c="dimmed">
          {t('twoFactor.required')}
        </Text>
      )}
      <TurnOn opened={open === 'on'} onClose={close} />
      <TurnOff opened={open === 'off'} onClose={close} />
      <RenewBackupCodes opened={open === 'codes'} onClose={close} />
    </Section>
  );
}

/** Turns two-factor authentication off. */
function TurnOff({ opened, onClose }: { opened: boolean; onClose: () => void }) {
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
