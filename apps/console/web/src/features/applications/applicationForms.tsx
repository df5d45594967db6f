import { Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useFieldErrors, useNameRule } from '../../hooks/forms.js';

interface NewProps {
  onClose: () => void;
  /** The mode that is chosen at first. */
  mode: ApplicationView['mode'];
}

/** The dialog that creates an application and then opens its page. */
export function CreateApplication({ opened, ...props }: NewProps & { opened: boolean }) {
  const { t } = useTranslation('applications');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('list.create')}>
      <CreateForm {...props} />
    </Dialog>
  );
}

function CreateForm({ onClose, mode: initialMode }: NewProps) {
  const { t } = useTranslation(['applications', 'common']);
  const { path } = useAccount();
  const navigate = useNavigate();
  const fieldErrorsOf = useFieldErrors();
  const create = useChange<{ id: string }>(`${path}/applications`);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', mode: initialMode },
    validate: { name: useNameRule(200) },
  });

  const submit = form.onSubmit(({ name, mode }) =>
    create.mutate(
      { method: 'POST', path: `${path}/applications`, body: { name: name.trim(), mode } },
      {
        onSuccess: ({ id }) => {
          notifications.show({ message: t('list.created', { name: name.trim() }) });
          void navigate(id);
        },
        onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
      },
    ),
  );
  return (
    <DialogForm
      onSubmit={submit}
      action={t('list.create')}
      onClose={onClose}
      pending={create.isPending}
      problem={create.error}
    >
      <TextInput
        label={t('list.form.name')}
        description={t('list.form.nameHint')}
        placeholder={t('list.form.namePlaceholder')}
        required
        data-autofocus
        autoComplete="off"
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <Radio.Group
        label={t('list.form.mode')}
        description={t('list.form.modeHint')}
        key={form.key('mode')}
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

interface Props {
  application: ApplicationView;
  onClose: () => void;
}

/** The dialog that renames an application. */
export function RenameApplication({ opened, ...props }: Props & { opened: boolean }) {
  const { t } = useTranslation('applications');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('details.renameTitle')}>
      <RenameForm {...props} />
    </Dialog>
  );
}

function RenameForm({ application, onClose }: Props) {
  const { t } = useTranslation(['applications', 'common']);
  const list = `${useAccount().path}/applications`;
  const fieldErrorsOf = useFieldErrors();
  const rename = useChange(list);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: application.name },
    validate: { name: useNameRule(200) },
  });

  const submit = form.onSubmit(({ name }) =>
    rename.mutate(
      { method: 'PUT', path: `${list}/${application.id}`, body: { name: name.trim() } },
      {
        onSuccess: () => {
          notifications.show({ message: t('details.renamed') });
          onClose();
        },
        onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
      },
    ),
  );
  return (
    <DialogForm
      onSubmit={submit}
      action={t('common:save')}
      onClose={onClose}
      pending={rename.isPending}
      problem={rename.error}
    >
      <TextInput
        label={t('list.form.name')}
        required
        data-autofocus
        autoComplete="off"
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
    </DialogForm>
  );
}
