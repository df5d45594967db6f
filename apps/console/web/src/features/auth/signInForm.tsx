import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { signIn } from '../../api/auth.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';
import { Failure } from '../../components/states.js';

/** The first step of a sign-in: email and password. */
export function SignInForm({
  email = '',
  onDone,
}: {
  /** Set for an invitation: the email is then fixed. */
  email?: string;
  onDone: (answer: { secondStep: boolean }) => Promise<void>;
}) {
  const { t } = useTranslation(['auth', 'common']);
  const required = useRequired();
  const fieldErrorsOf = useFieldErrors();
  const form = useForm({
    initialValues: { email, password: '' },
    validate: { email: required, password: required },
  });
  const enter = useMutationOnce<void, typeof form.values>({
    mutationFn: async (typed) => onDone(await signIn(typed.email.trim(), typed.password)),
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  return (
    <form onSubmit={form.onSubmit((typed) => enter.mutate(typed))} noValidate>
      <Stack>
        {enter.error !== null && enter.error.code !== 'invalid_input' && <Failure problem={enter.error} />}
        <TextInput
          label={t('fields.email')}
          type="email"
          autoComplete="username"
          required
          readOnly={email !== ''}
          {...(email === '' && { ref: focusOnMount })}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t('fields.password')}
          autoComplete="current-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('common:showPassword') }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" fullWidth loading={enter.isPending}>
          {t('signIn.action')}
        </Button>
      </Stack>
    </form>
  );
}
