import { Anchor, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { requestPasswordReset } from '../../api/auth.js';
import { PageForm } from '../../components/pageForm.js';
import { focusOnMount, useFormMutation, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';

/** Requests a link that sets a new password. The page shows the same text whether or not the address exists. */
export function ForgottenPassword() {
  const { t, i18n } = useTranslation(['auth', 'common']);
  const form = useForm({ initialValues: { email: '' }, validate: { email: useRequired() } });
  const email = form.values.email.trim();
  const ask = useFormMutation<void>(form, () => requestPasswordReset(email, i18n.language));
  const back = (
    <Anchor component={Link} to="/sign-in" underline="always">
      {t('forgottenPassword.back')}
    </Anchor>
  );
  if (ask.isSuccess)
    return (
      <AuthLayout title={t('forgottenPassword.sent')} footer={back}>
        <Text role="status">{t('forgottenPassword.sentText', { email })}</Text>
      </AuthLayout>
    );
  return (
    <AuthLayout title={t('forgottenPassword.title')} description={t('forgottenPassword.text')} footer={back}>
      <PageForm
        onSubmit={form.onSubmit(() => ask.mutate())}
        action={t('forgottenPassword.action')}
        change={ask}
      >
        <TextInput
          label={t('common:words.email')}
          type="email"
          autoComplete="username"
          required
          ref={focusOnMount}
          {...form.getInputProps('email')}
        />
      </PageForm>
    </AuthLayout>
  );
}
