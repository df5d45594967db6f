import { Box, Center, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { beginTwoFactor, readSession, takeSecondStep } from '../../api/auth.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useRequired } from '../../hooks/forms.js';
import { BackupCodes } from './backupCodes.js';
import { PasswordForm } from './passwordForm.js';

interface Setup {
  uri: string;
  backupCodes: string[];
}

/** Turns two-factor authentication on: password, first code of the app, backup codes. */
export function TurnOn({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const [setup, setSetup] = useState<Setup | null>(null);
  const [isOn, setIsOn] = useState(false);
  const close = (): void => {
    setSetup(null);
    setIsOn(false);
    onClose();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={t(isOn ? 'backupCodes.title' : 'turningOn.title')}
      persistent={setup !== null}
    >
      {setup === null && (
        <PasswordForm
          action={t('twoFactor.continue')}
          onSubmit={async (password) => setSetup(await beginTwoFactor(password))}
          onClose={close}
        />
      )}
      {setup !== null && !isOn && <FirstCode uri={setup.uri} onDone={() => setIsOn(true)} onClose={close} />}
      {setup !== null && isOn && <BackupCodes codes={setup.backupCodes} onClose={close} />}
    </Dialog>
  );
}

function FirstCode({ uri, onDone, onClose }: { uri: string; onDone: () => void; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const client = useQueryClient();
  const form = useForm({ initialValues: { code: '' }, validate: { code: useRequired() } });
  const { mutate, isPending, error } = useMutationOnce<void, string>({
    mutationFn: async (code) => {
      await takeSecondStep(code, 'app');
      await readSession(client);
    },
    onSuccess: () => {
      notifications.show({ message: t('twoFactor.turnedOn') });
      onDone();
    },
    onError: () => form.setFieldValue('code', ''),
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ code }) => mutate(code.trim()))}
      onClose={onClose}
      action={t('turningOn.action')}
      pending={isPending}
      problem={error}
    >
      <Text size="sm">{t('turningOn.scan')}</Text>
      <Center>
        {/* Dark on white in both colour schemes: many cameras read nothing else. */}
        <Box bg="white" p="sm" style={{ borderRadius: 8, lineHeight: 0 }}>
          <QRCodeSVG value={uri} size={184} role="img" aria-label={t('turningOn.qr')} />
        </Box>
      </Center>
      <div>
        <Text size="sm" mb={4}>
          {t('turningOn.orType')}
        </Text>
        <CodeBlock code={new URL(uri).searchParams.get('secret') ?? ''} what={t('turningOn.secret')} />
      </div>
      <TextInput
        label={t('turningOn.code')}
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={20}
        required
        data-autofocus
        {...form.getInputProps('code')}
      />
    </DialogForm>
  );
}
