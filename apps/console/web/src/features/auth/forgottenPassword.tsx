import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { requestPasswordReset } from '../../api/auth.js';
import { useMutationOnce } from '../../api/queries.js';
import { Failure } from '../../components/states.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';
import { AuthLayout } from './authLayout.js';

/** Asks for a link that sets a new password. The page says the same whoever has the address. */
export function ForgottenPassword() {
  const { t, i18n } = useTranslation('auth');
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({ initialValues: { email: '' }, validate: { email: useRequired() } });
  const ask = useMutationOnce<void, string>({
    mutationFn: (email) => requestPasswordReset(email, i18n.language),
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  const email = form.values.email.trim();
  const back = (
    <Anchor component={Link} to="/sign-in" underline="always">
      {t('forgottenPassword.back')}
    </Anchor>
  );
  if (ask.isSuccess)
    return (
      <AuthLayout title={t('forgottenPassword.sent')} footer={back}>
        <Text size="sm" role="status">
          {t('forgottenPassword.sentText', { email })}
        </Text>
      </AuthLayout>
    );
  return (
    <AuthLayout title={t('forgottenPassword.title')} description={t('forgottenPassword.text')} footer={back}>
      <form onSubmit={form.onSubmit(() => ask.mutate(email))} noValidate>
        <Stack>
          {ask.error !== null && ask.error.code !== 'invalid_input' && <Failure problem={ask.error} />}
          <TextInput
            label={t('fields.email')}
            type="email"
            autoComplete="username"
            required
            ref={focusOnMount}
            {...form.getInputProps('email')}
          />
          <Button type="submit" fullWidth loading={ask.isPending}>
            {t('forgottenPassword.action')}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
