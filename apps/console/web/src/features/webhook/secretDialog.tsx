import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { WebhookSecretView } from '../../../../src/features/webhook/view.js';
import { call } from '../../api/http.js';
import { useMutationOnce } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';

/**
 * The dialog that sets the address of the webhook, or replaces its secret, and shows a new secret once.
 *
 * @param url as it is; null without a webhook
 */
export function SecretDialog({
  opened,
  url,
  isRotation,
  onClose,
}: {
  opened: boolean;
  url: string | null;
  isRotation: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation('webhook');
  const { path } = useAccount();
  const client = useQueryClient();
  // `gcTime: 0` removes the answer from the cache on reset, because it holds the secret.
  const change = useMutationOnce<WebhookSecretView, string | null>({
    gcTime: 0,
    mutationFn: (address) =>
      address === null
        ? call('POST', `${path}/webhook/secret`, {})
        : call('PUT', `${path}/webhook`, { url: address }),
    onSuccess: async ({ secret }) => {
      if (secret === null) close();
      await client.invalidateQueries({ queryKey: path.split('/').filter(Boolean) });
    },
  });
  const close = (): void => {
    if (change.data?.secret === null) notifications.show({ message: t('address.done') });
    change.reset();
    onClose();
  };
  const secret = change.data?.secret ?? null;
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={t(
        secret !== null
          ? 'secret.title'
          : isRotation
            ? 'secret.action'
            : url === null
              ? 'address.set'
              : 'address.change',
      )}
      persistent={change.isPending || secret !== null}
    >
      {secret !== null ? (
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
      ) : (
        <SecretForm change={change} url={url} isRotation={isRotation} />
      )}
    </Dialog>
  );
}

function SecretForm({
  change,
  url,
  isRotation,
}: {
  change: ReturnType<typeof useMutationOnce<WebhookSecretView, string | null>>;
  url: string | null;
  isRotation: boolean;
}) {
  const { t } = useTranslation('webhook');
  const fieldErrorsOf = useFieldErrors();
  const required = useRequired();
  const form = useForm({
    initialValues: { url: url ?? '' },
    validate: { url: (typed) => (isRotation ? null : required(typed)) },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((values) =>
        change.mutate(isRotation ? null : values.url.trim(), {
          onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
        }),
      )}
      action={t(isRotation ? 'secret.action' : 'address.save')}
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
