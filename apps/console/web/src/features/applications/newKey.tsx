import { Alert, Anchor, Button, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, NewKeyView } from '../../../../src/features/applications/view.js';
import { type ApiProblem, call } from '../../api/http.js';
import { useAccount, useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { focusOnMount, useFieldErrors, useNameRule } from '../../hooks/forms.js';

/** The dialog that creates a key and shows it once. */
export function NewKey({
  application,
  opened,
  onClose,
}: {
  application: ApplicationView;
  opened: boolean;
  onClose: () => void;
}) {
  const create = useNewKey(application.id);
  const { t } = useTranslation('applications');
  const close = (): void => {
    create.reset();
    onClose();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={t(create.data === undefined ? 'newKey.title' : 'newKey.readyTitle')}
      size="lg"
      persistent={create.isPending || create.data !== undefined}
    >
      {create.data === undefined ? (
        <LabelForm create={create} onClose={close} />
      ) : (
        <Ready apiKey={create.data.key} mode={application.mode} onClose={close} />
      )}
    </Dialog>
  );
}

/** Creates a key. `gcTime: 0` removes the response from the cache on reset, because it holds the key. */
function useNewKey(application: string) {
  const { path } = useAccount();
  const client = useQueryClient();
  return useMutation<NewKeyView, ApiProblem, string>({
    gcTime: 0,
    mutationFn: (label) =>
      call('POST', `${path}/applications/${application}/keys`, label === '' ? {} : { label }),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: [...path.split('/').filter(Boolean), 'applications'] }),
  });
}

function LabelForm({ create, onClose }: { create: ReturnType<typeof useNewKey>; onClose: () => void }) {
  const { t } = useTranslation('applications');
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { label: '' },
    validate: { label: useNameRule(100, { optional: true }) },
  });
  const submit = form.onSubmit(({ label }) =>
    create.mutate(label.trim(), { onError: (problem) => form.setErrors(fieldErrorsOf(problem)) }),
  );
  return (
    <DialogForm
      onSubmit={submit}
      action={t('newKey.create')}
      onClose={onClose}
      pending={create.isPending}
      problem={create.error}
    >
      <TextInput
        label={t('newKey.label')}
        description={t('newKey.labelHint')}
        placeholder={t('newKey.labelPlaceholder')}
        data-autofocus
        autoComplete="off"
        key={form.key('label')}
        {...form.getInputProps('label')}
      />
    </DialogForm>
  );
}

function Ready({
  apiKey,
  mode,
  onClose,
}: {
  apiKey: string;
  mode: ApplicationView['mode'];
  onClose: () => void;
}) {
  const { t } = useTranslation('applications');
  const { apiUrl } = useSession();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('newKey.once')}>
        {t('newKey.onceText')}
      </Alert>
      <CodeBlock code={apiKey} what={t('newKey.key')} wrap />
      <div>
        <Text fw={550} size="sm">
          {t('newKey.try')}
        </Text>
        <Text size="sm" c="dimmed">
          {t(mode === 'test' ? 'newKey.tryTest' : 'newKey.tryLive')}
        </Text>
      </div>
      <KeyExamples apiKey={apiKey} apiUrl={apiUrl} />
      <Group justify="space-between">
        <Anchor href={`${apiUrl}/docs`} target="_blank" rel="noreferrer" size="sm">
          {t('newKey.docs')}
        </Anchor>
        <Button ref={focusOnMount} onClick={onClose}>
          {t('newKey.done')}
        </Button>
      </Group>
    </Stack>
  );
}

/** From the range that Ofcom reserves for fiction: the number belongs to nobody. */
const RECIPIENT = '+447700900123';

const EXAMPLES = {
  curl: (apiUrl: string, key: string): string =>
    `curl ${apiUrl}/v1/send \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"to": "${RECIPIENT}"}'`,
  node: (apiUrl: string, key: string): string =>
    `const response = await fetch('${apiUrl}/v1/send', {
  method: 'POST',
  headers: {
    Authorization: 'Bearer ${key}',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({ to: '${RECIPIENT}' }),
});
console.log(response.status, await response.json());`,
} as const;
const LANGUAGES = ['curl', 'node'] as const;

/** Code that creates a first send with this key, ready to paste. */
function KeyExamples({ apiKey, apiUrl }: { apiKey: string; apiUrl: string }) {
  const { t } = useTranslation('applications');
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="xs">
        {LANGUAGES.map((language) => (
          <Tabs.Tab key={language} value={language}>
            {t(`newKey.${language}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map((language) => (
        <Tabs.Panel key={language} value={language}>
          <CodeBlock
            code={EXAMPLES[language](apiUrl, apiKey)}
            what={t('newKey.exampleOf', { what: t(`newKey.${language}`) })}
          />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
