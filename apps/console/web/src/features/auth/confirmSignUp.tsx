import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { confirmSignUp } from '../../api/auth.js';
import { CurrentPassword, PageForm } from '../../components/pageForm.js';
import { focusOnMount, useFormMutation, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver, useLinkToken } from './mailedLink.js';

/** Confirms the address of a sign-up by the link of a mail, and signs the user in. */
export function ConfirmSignUp() {
  const { t } = useTranslation('auth');
  const { token, suffix: invitation } = useLinkToken();
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { password: '' }, validate: { password: useRequired() } });
  const confirm = useFormMutation(form, async (password: string) => {
    await confirmSignUp(token, password);
    client.clear();
    await navigate(invitation === '' ? '/' : `/invitation#${invitation}`, { replace: true });
  });
  if (token === '' || confirm.error?.code === 'not_found' || confirm.error?.errors['token'] !== undefined)
    return <LinkOver again="/sign-up" />;
  return (
    <AuthLayout title={t('confirmSignUp.title')} description={t('confirmSignUp.text')}>
      <PageForm
        onSubmit={form.onSubmit(({ password }) => confirm.mutate(password))}
        action={t('confirmSignUp.action')}
        change={confirm}
      >
        <CurrentPassword
          label={t('fields.password')}
          ref={focusOnMount}
          {...form.getInputProps('password')}
        />
      </PageForm>
    </AuthLayout>
  );
}
