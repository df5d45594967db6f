import { Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange, useMutationOnce } from '../../api/queries.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';

/** Has a link mailed to a new address, which makes it the user's. */
export function ChangeAddress() {
  const { t } = useTranslation('profile');
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpened(true)}>
        {t('address.change')}
      </Button>
      <Dialog opened={opened} onClose={close} title={t('address.title')}>
        <AddressForm onClose={close} />
      </Dialog>
    </>
  );
}

function AddressForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('profile');
  const fieldErrorsOf = useFieldErrors();
  const { mutateAsync } = useChange();
  const form = useForm({ initialValues: { email: '' }, validate: { email: useRequired() } });
  const ask = useMutationOnce<void, string>({
    mutationFn: async (email) => {
      await mutateAsync({ method: 'POST', path: '/auth/change-address', body: { email } });
      onClose();
      notifications.show({ message: t('address.sent', { email }) });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ email }) => ask.mutate(email.trim()))}
      onClose={onClose}
      action={t('address.action')}
      pending={ask.isPending}
      problem={ask.error?.code === 'invalid_input' ? null : ask.error}
    >
      <Text size="sm">{t('address.text')}</Text>
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
