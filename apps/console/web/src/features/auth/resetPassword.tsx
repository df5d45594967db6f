import { Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { resetPassword } from '../../api/auth.js';
import { useMutationOnce } from '../../api/queries.js';
import { NewPassword } from '../../components/newPassword.js';
import { Failure } from '../../components/states.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver, useLinkToken } from './mailedLink.js';

/** Sets a new password by the link of a mail. */
export function ResetPassword() {
  const { t } = useTranslation('auth');
  const { token } = useLinkToken();
  const client = useQueryClient();
  const navigate = useNavigate();
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const reset = useMutationOnce<void, string>({
    mutationFn: async (password) => {
      await resetPassword(token, password);
      client.clear();
      await navigate('/sign-in', { replace: true, state: { isPasswordNew: true } });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  if (token === '' || reset.error?.code === 'not_found' || reset.error?.errors['token'] !== undefined)
    return <LinkOver again="/forgot-password" />;
  return (
    <AuthLayout title={t('resetPassword.title')} description={t('resetPassword.text')}>
      <form onSubmit={form.onSubmit(({ password }) => reset.mutate(password))} noValidate>
        <Stack>
          {reset.error !== null && reset.error.code !== 'invalid_input' && <Failure problem={reset.error} />}
          <NewPassword
            label={t('resetPassword.field')}
            required
            owner={[]}
            {...form.getInputProps('password')}
            value={form.values.password}
          />
          <Button type="submit" fullWidth loading={reset.isPending}>
            {t('resetPassword.action')}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
