import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { resetPassword } from '../../api/auth.js';
import { PageForm } from '../../components/pageForm.js';
import { NewPassword } from '../../components/newPassword.js';
import { useFormMutation, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver, useLinkToken } from './mailedLink.js';

export function ResetPassword() {
  const { t } = useTranslation('auth');
  const { token } = useLinkToken();
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const reset = useFormMutation(form, async (password: string) => {
    await resetPassword(token, password);
    client.clear();
    await navigate('/sign-in', { replace: true, state: { isPasswordNew: true } });
  });
  if (token === '' || reset.error?.code === 'not_found' || reset.error?.errors['token'] !== undefined)
    return <LinkOver again="/forgot-password" />;
  return (
    <AuthLayout title={t('resetPassword.title')} description={t('resetPassword.text')}>
      <PageForm
        onSubmit={form.onSubmit(({ password }) => reset.mutate(password))}
        action={t('resetPassword.action')}
        change={reset}
      >
        <NewPassword
          label={t('resetPassword.field')}
          required
          owner={[]}
          {...form.getInputProps('password')}
          value={form.values.password}
        />
      </PageForm>
    </AuthLayout>
  );
}
