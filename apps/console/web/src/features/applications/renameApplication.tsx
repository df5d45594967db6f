import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useChange } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { DialogForm } from '../../components/dialogForm.js';
import { useFaultTexts } from '../../hooks/formErrors.js';
import { useNameRule } from '../../hooks/nameRule.js';

interface Props {
  application: ApplicationView;
  onClose: () => void;
}

/** The dialog that gives an application another name. */
export function RenameApplication({ opened, ...props }: Props & { opened: boolean }) {
  const { t } = useTranslation('account');
  return (
    <Dialog opened={opened} onClose={props.onClose} title={t('application.renameTitle')}>
      <RenameForm {...props} />
    </Dialog>
  );
}

function RenameForm({ application, onClose }: Props) {
  const { t } = useTranslation(['account', 'common']);
  const list = `${useAccount().path}/applications`;
  const faultsOf = useFaultTexts();
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
          notifications.show({ message: t('application.renamed') });
          onClose();
        },
        onError: (problem) => form.setErrors(faultsOf(problem)),
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
        label={t('applications.form.name')}
        required
        data-autofocus
        autoComplete="off"
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
    </DialogForm>
  );
}
