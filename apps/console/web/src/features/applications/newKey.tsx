import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, NewKeyView } from '../../../../src/features/applications/view.js';
import type { TryoutView } from '../../../../src/features/tryout/view.js';
import { call } from '../../api/http.js';
import { useData, useMutationOnce } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeSamples } from '../../components/codeSamples.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog, DialogForm, useClose } from '../../components/dialog.js';
import { Loaded } from '../../components/states.js';
import { useDocs } from '../../hooks/docs.js';
import { focusOnMount, useFieldErrors, useNameRule } from '../../hooks/forms.js';

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
      title={t(create.data === undefined ? 'keys.create' : 'newKey.readyTitle')}
      size="lg"
      persistent={create.isPending || create.data !== undefined}
    >
      {create.data === undefined ? (
        <LabelForm create={create} />
      ) : (
        <Ready apiKey={create.data.key} application={application} />
      )}
    </Dialog>
  );
}

/** Creates a key. `gcTime: 0` removes the response from the cache on reset, because it holds the key. */
function useNewKey(application: string) {
  const { path } = useAccount();
  const client = useQueryClient();
  return useMutationOnce<NewKeyView, string>({
    gcTime: 0,
    mutationFn: (label) =>
      call('POST', `${path}/applications/${application}/keys`, label === '' ? {} : { label }),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: [...path.split('/').filter(Boolean), 'applications'] }),
  });
}

function LabelForm({ create }: { create: ReturnType<typeof useNewKey> }) {
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
    <DialogForm onSubmit={submit} action={t('keys.create')} change={create}>
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

function Ready({ apiKey, application }: { apiKey: string; application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const docs = useDocs();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('newKey.once')}>
        {t('newKey.onceText')}
      </Alert>
      <CodeBlock code={apiKey} what={t('newKey.key')} wrap />
      <FirstSend application={application} apiKey={apiKey} />
      <Group justify="space-between">
        <Anchor href={docs('quick-start')} target="_blank" rel="noreferrer">
          {t('newKey.docs')}
        </Anchor>
        <Button ref={focusOnMount} onClick={useClose()}>
          {t('newKey.done')}
        </Button>
      </Group>
    </Stack>
  );
}

/** A first send with this key, in several languages, ready to run. The samples read the key from the environment, and so do not hold it. */
function FirstSend({ application: { id, mode }, apiKey }: { application: ApplicationView; apiKey: string }) {
  const { t } = useTranslation('applications');
  const { path } = useAccount();
  return (
    <>
      <div>
        <Text fw={550}>{t('newKey.try')}</Text>
        <Text c="dimmed">{t(mode === 'test' ? 'newKey.tryTest' : 'newKey.tryLive')}</Text>
      </div>
      <CodeBlock code={`export ONECODE_API_KEY='${apiKey}'`} what={t('newKey.variable')} wrap />
      <Loaded read={useData<TryoutView>(`${path}/applications/${id}/tryout`)}>
        {({ samples }) => <CodeSamples samples={samples[0]?.samples ?? []} />}
      </Loaded>
    </>
  );
}
