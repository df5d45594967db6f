import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { WebhookSecretView } from '../../../../src/features/webhook/view.js';
import { useAccount } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { post, put, useChange } from '../../hooks/change.js';
import { focusOnMount, useRequired } from '../../hooks/forms.js';

/**
 * Sets the address of the webhook, or replaces its secret, and shows a new secret once.
 *
 * @param url the current address; null without a webhook
 */
export function SecretForm({ url, isRotation }: { url: string | null; isRotation: boolean }) {
  const { t } = useTranslation(['webhook', 'common']);
  const { path } = useAccount();
  const close = useClose();
  const required = useRequired();
  const form = useForm({
    initialValues: { url: url ?? '' },
    validate: { url: (typed) => (isRotation ? null : required(typed)) },
  });
  const change = useChange<WebhookSecretView>([path], {
    form,
    gcTime: 0,
    onDone: ({ secret }) => {
      if (secret !== null) return;
      close();
      notifications.show({ message: t('address.done') });
    },
  });
  const secret = change.data?.secret ?? null;
  useKeepOpen(secret === null ? change.isPending : t('secret.title'));
  if (secret !== null)
    return (
      <Stack>
        <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('secret.once')}>
          {t('secret.onceText')}
        </Alert>
        <CodeBlock code={secret} what={t('secret.name')} wrap />
        <Group justify="flex-end">
          <Button ref={focusOnMount} onClick={close}>
            {t('secret.done')}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) =>
        change.mutate(
          isRotation ? post(`${path}/webhook/secret`) : put(`${path}/webhook`, { url: values.url.trim() }),
        ),
      )}
      action={t(isRotation ? 'secret.action' : 'common:save')}
      change={change}
      marksFields
    >
      {isRotation ? (
        <Text>{t('secret.text')}</Text>
      ) : (
        <TextInput
          label={t('address.field')}
          description={t('address.hint')}
          type="url"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('url')}
        />
      )}
    </DialogForm>
  );
}
