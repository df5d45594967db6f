import { Badge, Box, Button, Center, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { QRCodeSVG } from 'qrcode.react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  beginTwoFactor,
  readSession,
  replaceBackupCodes,
  takeSecondStep,
  turnTwoFactorOff,
} from '../../api/auth.js';
import { useMutationOnce } from '../../api/queries.js';
import { useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogButton, DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { CurrentPassword } from '../../components/pageForm.js';
import { useFormMutation, useRequired } from '../../hooks/forms.js';
import { BackupCodes } from './backupCodes.js';

/** Two-factor authentication of the user: on, off, backup codes. */
export function TwoFactor() {
  const { t } = useTranslation('profile');
  const { user, needsTwoFactor } = useSession();
  const { hasTwoFactor } = user;
  const [isTurningOn, { open, close }] = useDisclosure();
  return (
    <Section
      title={t('twoFactor.title')}
      description={t('twoFactor.description')}
      actions={
        hasTwoFactor ? (
          <>
            <DialogButton label={t('twoFactor.newCodes')} title={t('twoFactor.newCodes')}>
              <RenewBackupCodes />
            </DialogButton>
            {!needsTwoFactor && (
              <DialogButton label={t('twoFactor.turnOff')} title={t('turningOff.title')}>
                <TurnOff />
              </DialogButton>
            )}
          </>
        ) : (
          <Button size="xs" onClick={open}>
            {t('twoFactor.turnOn')}
          </Button>
        )
      }
    >
      <Badge color={hasTwoFactor ? 'teal' : 'gray'}>
        {t(hasTwoFactor ? 'twoFactor.on' : 'twoFactor.off')}
      </Badge>
      {needsTwoFactor && <Text c="dimmed">{t('twoFactor.required')}</Text>}
      {/* Outside of the part that is replaced when two-factor authentication is turned on. */}
      <Dialog opened={isTurningOn} onClose={close} title={t('turningOn.title')}>
        <TurnOn />
      </Dialog>
    </Section>
  );
}

function TurnOff() {
  const { t } = useTranslation('profile');
  const client = useQueryClient();
  const close = useClose();
  const turnOff = async (password: string): Promise<void> => {
    await turnTwoFactorOff(password);
    await readSession(client);
    close();
    notifications.show({ message: t('twoFactor.turnedOff') });
  };
  return (
    <PasswordForm action={t('twoFactor.turnOff')} color="red.9" onSubmit={turnOff}>
      {t('turningOff.text')}
    </PasswordForm>
  );
}

/** Replaces the backup codes and shows the new ones once. */
function RenewBackupCodes() {
  const { t } = useTranslation('profile');
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes !== null) return <BackupCodes codes={codes} />;
  return (
    <PasswordForm
      action={t('backupCodes.renewAction')}
      onSubmit={async (password) => setCodes((await replaceBackupCodes(password)).backupCodes)}
    >
      {t('backupCodes.renew')}
    </PasswordForm>
  );
}

/** Turns two-factor authentication on: password, first code of the app, backup codes. */
function TurnOn() {
  const { t } = useTranslation(['profile', 'auth']);
  const [setup, setSetup] = useState<Awaited<ReturnType<typeof beginTwoFactor>> | null>(null);
  const [isOn, setIsOn] = useState(false);
  if (setup === null)
    return (
      <PasswordForm
        action={t('auth:secondStep.action')}
        onSubmit={async (password) => setSetup(await beginTwoFactor(password))}
      />
    );
  if (isOn) return <BackupCodes codes={setup.backupCodes} />;
  return <FirstCode uri={setup.uri} onDone={() => setIsOn(true)} />;
}

function FirstCode({ uri, onDone }: { uri: string; onDone: () => void }) {
  const { t } = useTranslation('profile');
  const client = useQueryClient();
  const form = useForm({ initialValues: { code: '' }, validate: { code: useRequired() } });
  const enter = useMutationOnce<void, string>({
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
  useKeepOpen(true);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ code }) => enter.mutate(code.trim()))}
      action={t('twoFactor.turnOn')}
      change={enter}
    >
      <Text>{t('turningOn.scan')}</Text>
      <Center>
        {/* Dark on white in both colour schemes: many cameras read nothing else. */}
        <Box bg="white" p="sm" style={{ borderRadius: 8, lineHeight: 0 }}>
          <QRCodeSVG value={uri} size={184} role="img" aria-label={t('turningOn.qr')} />
        </Box>
      </Center>
      <div>
        <Text mb={4}>{t('turningOn.orType')}</Text>
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

/** Asks for the password before a change of security settings; the children say what will happen. */
function PasswordForm({
  action,
  color = 'brand',
  onSubmit,
  children,
}: {
  action: string;
  color?: 'brand' | 'red.9';
  onSubmit: (password: string) => Promise<void>;
  children?: ReactNode;
}) {
  const { t } = useTranslation(['profile', 'auth']);
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const give = useFormMutation(form, onSubmit);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ password }) => give.mutate(password))}
      action={action}
      color={color}
      change={give}
      marksFields
    >
      {children !== undefined && <Text>{children}</Text>}
      <CurrentPassword
        label={t('auth:confirmIdentity.password.label')}
        data-autofocus
        {...form.getInputProps('password')}
      />
    </DialogForm>
  );
}
