import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { OwnAppView, SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useChange } from '../../hooks/change.js';
import { focusOnMount } from '../../hooks/forms.js';
import { useSenders } from '../../hooks/senders.js';

/** The dialog that takes the secret of a sender's own Meta app, and shows what is to be entered in that app's settings. */
export function OwnAppDialog({
  opened,
  sender,
  rules,
  onClose,
}: {
  opened: boolean;
  sender: SenderView;
  rules: SenderRulesView;
  onClose: () => void;
}) {
  const { t } = useTranslation(['senders', 'webhook']);
  const { path, audit } = useSenders();
  const change = useChange<OwnAppView>([path, audit]);
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={t('app.title')} persistent={change.isPending}>
      {change.data === undefined ? (
        <SecretForm pattern={rules.patterns.appSecret} change={change} path={`${path}/${sender.id}/app`} />
      ) : (
        <Stack>
          <Text>{t('app.enter')}</Text>
          {(['url', 'verifyToken'] as const).map((name) => (
            <div key={name}>
              <Text fw={550} pb={4}>
                {t(`app.${name}`)}
              </Text>
              <CodeBlock code={change.data[name]} what={t(`app.${name}`)} wrap />
            </div>
          ))}
          <Group justify="flex-end">
            <Button ref={focusOnMount} onClick={close}>
              {t('webhook:secret.done')}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

function SecretForm({
  pattern,
  change,
  path,
}: {
  pattern: string;
  change: ReturnType<typeof useChange<OwnAppView>>;
  path: string;
}) {
  const { t } = useTranslation('senders');
  const form = useForm({
    initialValues: { appSecret: '' },
    validate: {
      appSecret: (value) => (new RegExp(pattern).test(value.trim()) ? null : t('fieldErrors.appSecret')),
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ appSecret }) =>
        change.mutate({ method: 'PUT', path, body: { appSecret: appSecret.trim() } }),
      )}
      action={t('app.save')}
      change={change}
    >
      <Text>{t('app.what')}</Text>
      <PasswordInput
        label={t('app.secret')}
        description={t('app.secretWhat')}
        required
        autoComplete="off"
        data-autofocus
        visibilityToggleButtonProps={{ 'aria-label': t('app.show') }}
        {...form.getInputProps('appSecret')}
      />
    </DialogForm>
  );
}
