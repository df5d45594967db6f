import { Anchor, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { takeSecondStep } from '../../api/auth.js';
import { focusOnMount, useRequired } from '../../hooks/forms.js';
import { PageForm } from '../../components/pageForm.js';

/** The second step of a sign-in: an authenticator code or a backup code. */
export function SecondStepForm({
  onDone,
  onStartOver,
}: {
  onDone: () => Promise<void>;
  onStartOver: () => void;
}) {
  const { t } = useTranslation('auth');
  const [kind, setKind] = useState<'app' | 'backup'>('app');
  const form = useForm({ initialValues: { code: '' }, validate: { code: useRequired() } });
  const enter = useMutationOnce<void, string>({
    mutationFn: async (code) => {
      await takeSecondStep(code, kind);
      await onDone();
    },
    onError: () => form.setFieldValue('code', ''),
  });
  const switchKind = (): void => {
    setKind(kind === 'app' ? 'backup' : 'app');
    form.reset();
    enter.reset();
  };
  return (
    <Stack>
      <Text c="dimmed">{t(kind === 'app' ? 'secondStep.text' : 'confirmIdentity.backup.text')}</Text>
      <PageForm
        onSubmit={form.onSubmit(({ code }) => enter.mutate(code.trim()))}
        action={t('secondStep.action')}
        change={enter}
      >
        <TextInput
          key={kind}
          label={t(kind === 'app' ? 'fields.code' : 'confirmIdentity.backup.label')}
          autoComplete={kind === 'app' ? 'one-time-code' : 'off'}
          inputMode={kind === 'app' ? 'numeric' : 'text'}
          maxLength={20}
          required
          ref={focusOnMount}
          {...form.getInputProps('code')}
        />
      </PageForm>
      <Group justify="space-between">
        <Anchor component="button" type="button" onClick={switchKind}>
          {t(kind === 'app' ? 'secondStep.useBackup' : 'secondStep.useApp')}
        </Anchor>
        <Anchor component="button" type="button" onClick={onStartOver}>
          {t('secondStep.again')}
        </Anchor>
      </Group>
    </Stack>
  );
}
