import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SenderView, TestCodeView } from '../../../../src/features/senders/view.js';
import { DialogForm } from '../../components/dialog.js';
import { post, useChange } from '../../hooks/change.js';
import { useSenders } from '../../hooks/senders.js';
import { SetupSteps } from './setupSteps.js';

/** Sends a code from a sender to a phone, and shows whether it arrived. */
export function TestCodeForm({ sender }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const { path, audit } = useSenders();
  const form = useForm({
    initialValues: { to: '' },
    validate: { to: (to) => (to.trim() === '' ? t('fieldErrors.number') : null) },
  });
  // The setup is not read again, because its section shows this dialog and would close it.
  const test = useChange<TestCodeView>([audit]);
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ to }) =>
        test.mutate(post(`${path}/${sender.id}/test`, { to: to.trim() }), {
          onError: ({ errors }) => {
            if ('to' in errors) form.setFieldError('to', t('fieldErrors.number'));
          },
        }),
      )}
      action={t('test.button')}
      change={test}
      marksFields
    >
      <Text>{t('test.what')}</Text>
      <TextInput
        label={t('test.to')}
        placeholder="+55 11 98765-4321"
        required
        type="tel"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('to')}
      />
      <div role="status">{test.data !== undefined && <SetupSteps steps={[test.data.step]} />}</div>
    </DialogForm>
  );
}
