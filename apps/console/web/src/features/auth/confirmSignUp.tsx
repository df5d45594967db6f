import { Button, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { confirmSignUp } from '../../api/auth.js';
import { useMutationOnce } from '../../api/queries.js';
import { Failure } from '../../components/states.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver, useLinkToken } from './mailedLink.js';

/** Confirms the address of a sign-up by the link of a mail, and signs the user in. */
export function ConfirmSignUp() {
  const { t } = useTranslation(['auth', 'common']);
  const { token, suffix: invitation } = useLinkToken();
  const client = useQueryClient();
  const navigate = useNavigate();
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const confirm = useMutationOnce<void, string>({
    mutationFn: async (password) => {
      await confirmSignUp(token, password);
      client.clear();
      await navigate(invitation === '' ? '/' : `/invitation#${invitation}`, { replace: true });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  if (token === '' || confirm.error?.code === 'not_found' || confirm.error?.errors['token'] !== undefined)
    return <LinkOver again="/sign-up" />;
  return (
    <AuthLayout title={t('confirmSignUp.title')} description={t('confirmSignUp.text')}>
      <form onSubmit={form.onSubmit(({ password }) => confirm.mutate(password))} noValidate>
        <Stack>
          {confirm.error !== null && confirm.error.code !== 'invalid_input' && (
            <Failure problem={confirm.error} />
          )}
          <PasswordInput
            label={t('fields.password')}
            autoComplete="current-password"
            required
            ref={focusOnMount}
            visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
            {...form.getInputProps('password')}
          />
          <Button type="submit" fullWidth loading={confirm.isPending}>
            {t('confirmSignUp.action')}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
