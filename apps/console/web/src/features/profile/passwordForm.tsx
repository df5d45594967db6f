import { PasswordInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { DialogForm } from '../../components/dialog.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';

/** Asks for the password before a change of security settings; the children say what will happen. */
export function PasswordForm({
  action,
  color = 'brand',
  onSubmit,
  onClose,
  children,
}: {
  action: string;
  color?: 'brand' | 'red.9';
  onSubmit: (password: string) => Promise<void>;
  onClose: () => void;
  children?: ReactNode;
}) {
  const { t } = useTranslation(['profile', 'common']);
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const { mutate, isPending, error } = useMutationOnce<void, string>({
    mutationFn: onSubmit,
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ password }) => mutate(password))}
      onClose={onClose}
      action={action}
      color={color}
      pending={isPending}
      problem={error?.code === 'invalid_input' ? null : error}
    >
      {children !== undefined && <Text size="sm">{children}</Text>}
      <PasswordInput
        label={t('twoFactor.password')}
        autoComplete="current-password"
        required
        data-autofocus
        visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
        {...form.getInputProps('password')}
      />
    </DialogForm>
  );
}
