import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { signIn } from '../../api/auth.js';
import { CurrentPassword, PageForm } from '../../components/pageForm.js';
import { focusOnMount, useFormMutation, useRequired } from '../../hooks/forms.js';

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
  const form = useForm({
    initialValues: { email, password: '' },
    validate: { email: required, password: required },
  });
  const enter = useFormMutation(form, async (typed: typeof form.values) =>
    onDone(await signIn(typed.email.trim(), typed.password)),
  );
  return (
    <PageForm
      onSubmit={form.onSubmit((typed) => enter.mutate(typed))}
      action={t('signIn.title')}
      change={enter}
    >
      <TextInput
        label={t('common:words.email')}
        type="email"
        autoComplete="username"
        required
        readOnly={email !== ''}
        {...(email === '' && { ref: focusOnMount })}
        {...form.getInputProps('email')}
      />
      <CurrentPassword label={t('fields.password')} {...form.getInputProps('password')} />
    </PageForm>
  );
}
