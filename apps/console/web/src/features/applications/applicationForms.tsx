import { Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useAccount } from '../../app/session.js';
import { DialogForm, useClose } from '../../components/dialog.js';
import { post, put, useChange } from '../../hooks/change.js';
import { useNameRule } from '../../hooks/forms.js';

/** Creates an application and then opens its page. @param mode the preselected mode */
export function CreateApplication({ mode }: { mode: ApplicationView['mode'] }) {
  const { t } = useTranslation(['applications', 'common']);
  const path = `${useAccount().path}/applications`;
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '', mode },
    validate: { name: useNameRule(200) },
  });
  const create = useChange<{ id: string }>([path], {
    done: () => t('list.created', { name: form.values.name.trim() }),
    onDone: ({ id }) => void navigate(id),
    form,
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((typed) => create.mutate(post(path, { ...typed, name: typed.name.trim() })))}
      action={t('list.create')}
      change={create}
    >
      <TextInput
        label={t('common:words.name')}
        description={t('list.form.nameHint')}
        placeholder={t('list.form.namePlaceholder')}
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <Radio.Group
        label={t('common:words.mode')}
        description={t('list.form.modeHint')}
        {...form.getInputProps('mode')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="test" label={t('common:mode.test')} description={t('list.form.test')} />
          <Radio value="live" label={t('common:mode.live')} description={t('list.form.live')} />
        </Stack>
      </Radio.Group>
    </DialogForm>
  );
}

export function RenameApplication({ application }: { application: ApplicationView }) {
  const { t } = useTranslation(['applications', 'common']);
  const list = `${useAccount().path}/applications`;
  const form = useForm({
    initialValues: { name: application.name },
    validate: { name: useNameRule(200) },
  });
  const rename = useChange([list], { done: t('details.renamed'), onDone: useClose(), form });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ name }) =>
        rename.mutate(put(`${list}/${application.id}`, { name: name.trim() })),
      )}
      change={rename}
    >
      <TextInput
        label={t('common:words.name')}
        required
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
      />
    </DialogForm>
  );
}
