import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { OwnAppView, SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { CodeBlock } from '../../components/copy.js';
import { DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { put, useChange } from '../../hooks/change.js';
import { focusOnMount } from '../../hooks/forms.js';
import { useSenders } from '../../hooks/senders.js';

/** Sets the secret of a sender's own Meta app, and shows the values for that app's settings. */
export function OwnAppForm({ sender, rules }: { sender: SenderView; rules: SenderRulesView }) {
  const { t } = useTranslation(['senders', 'webhook']);
  const { path, audit } = useSenders();
  const close = useClose();
  const pattern = new RegExp(rules.patterns.appSecret);
  const form = useForm({
    initialValues: { appSecret: '' },
    validate: { appSecret: (value) => (pattern.test(value.trim()) ? null : t('fieldErrors.appSecret')) },
  });
  const change = useChange<OwnAppView>([path, audit]);
  const { data } = change;
  useKeepOpen(change.isPending);
  if (data !== undefined)
    return (
      <Stack>
        <Text>{t('app.enter')}</Text>
        {(['url', 'verifyToken'] as const).map((name) => (
          <div key={name}>
            <Text fw={550} pb={4}>
              {t(`app.${name}`)}
            </Text>
            <CodeBlock code={data[name]} what={t(`app.${name}`)} wrap />
          </div>
        ))}
        <Group justify="flex-end">
          <Button ref={focusOnMount} onClick={close}>
            {t('webhook:secret.done')}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ appSecret }) =>
        change.mutate(put(`${path}/${sender.id}/app`, { appSecret: appSecret.trim() })),
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
