import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, NewKeyView } from '../../../../src/features/applications/view.js';
import { call, type ApiProblem } from '../../api/http.js';
import { useAccount, useSession } from '../../app/session.js';
import { CodeBlock } from '../../components/code.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/dialogForm.js';
import { useFaultTexts } from '../../hooks/formErrors.js';
import { focusAtOnce } from '../../hooks/focus.js';
import { KeyExamples } from './keyExamples.js';
import { useNameRule } from '../../hooks/nameRule.js';

/** The dialog that makes a key and shows it, this once. */
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
  const { t } = useTranslation('account');
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

/** Unlike other changes it is forgotten as soon as it is reset: its answer holds the key. */
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
  const { t } = useTranslation('account');
  const faultsOf = useFaultTexts();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { label: '' },
    validate: { label: useNameRule(100, { optional: true }) },
  });
  const submit = form.onSubmit(({ label }) =>
    create.mutate(label.trim(), { onError: (problem) => form.setErrors(faultsOf(problem)) }),
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
  const { t } = useTranslation('account');
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
        <Button ref={focusAtOnce} onClick={onClose}>
          {t('newKey.done')}
        </Button>
      </Group>
    </Stack>
  );
}
