import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { DialogForm, useClose } from '../../components/dialog.js';
import { post, useChange } from '../../hooks/change.js';
import { useRequired } from '../../hooks/forms.js';

/** Requests a link to a new address; opening it changes the user's address. */
export function ChangeAddress() {
  const { t } = useTranslation(['profile', 'auth']);
  const form = useForm({ initialValues: { email: '' }, validate: { email: useRequired() } });
  const ask = useChange([], {
    done: () => t('address.sent', { email: form.values.email.trim() }),
    onDone: useClose(),
    form,
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ email }) =>
        ask.mutate(post('/auth/change-address', { email: email.trim() })),
      )}
      action={t('auth:forgottenPassword.action')}
      change={ask}
      marksFields
    >
      <Text>{t('address.text')}</Text>
      <TextInput
        label={t('address.field')}
        type="email"
        autoComplete="email"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
    </DialogForm>
  );
}
