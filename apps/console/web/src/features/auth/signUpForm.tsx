import { Button, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { signUp } from '../../api/auth.js';
import { focusOnMount, useFieldErrors, useRequired } from '../../hooks/forms.js';
import { NewPassword } from '../../components/newPassword.js';
import { Failure } from '../../components/states.js';
import { defaultTrialCountries, TrialCountries, useTrialCountriesRule } from './trialCountries.js';

/** What a new account needs. */
export interface NewAccountInput {
  account: string;
  language: string;
  countries: string[];
}

/** Signs a person up and signs them in. */
export function SignUpForm({
  email = '',
  onDone,
}: {
  /** Set for an invitation: the email is fixed, and no account is created. */
  email?: string;
  onDone: (typed: NewAccountInput) => Promise<void>;
}) {
  const { t, i18n } = useTranslation(['auth', 'common']);
  const required = useRequired();
  const fieldErrorsOf = useFieldErrors();
  const countriesRule = useTrialCountriesRule();
  const isInvited = email !== '';
  const form = useForm({
    initialValues: { name: '', email, password: '', account: '', countries: defaultTrialCountries() },
    validate: { name: required, email: required, password: required, countries: countriesRule },
  });
  const enter = useMutationOnce<void, typeof form.values>({
    mutationFn: async ({ account, countries, ...typed }) => {
      const { language } = i18n;
      await signUp({ ...typed, email: typed.email.trim(), language });
      await onDone({ account: account.trim() === '' ? typed.name : account, language, countries });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  const { name, password } = form.values;
  return (
    <form onSubmit={form.onSubmit((typed) => enter.mutate(typed))} noValidate>
      <Stack>
        {enter.error !== null && enter.error.code !== 'invalid_input' && <Failure problem={enter.error} />}
        <TextInput
          label={t('fields.name')}
          autoComplete="name"
          required
          ref={focusOnMount}
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <TextInput
          label={t('fields.email')}
          type="email"
          autoComplete="username"
          required
          readOnly={isInvited}
          {...form.getInputProps('email')}
        />
        <NewPassword
          label={t('fields.password')}
          required
          owner={[name, form.values.email]}
          {...form.getInputProps('password')}
          value={password}
        />
        {!isInvited && (
          <>
            <TextInput
              label={t('fields.account')}
              description={t('signUp.accountHint')}
              autoComplete="organization"
              maxLength={200}
              {...form.getInputProps('account')}
            />
            <TrialCountries {...form.getInputProps('countries')} value={form.values.countries} />
          </>
        )}
        <Select
          label={t('fields.language')}
          data={(['en', 'pt-BR'] as const).map((value) => ({ value, label: t(`common:languages.${value}`) }))}
          value={i18n.language}
          onChange={(language) => language !== null && void i18n.changeLanguage(language)}
          allowDeselect={false}
        />
        <Button type="submit" fullWidth loading={enter.isPending}>
          {t(isInvited ? 'invitation.accept' : 'signUp.action')}
        </Button>
      </Stack>
    </form>
  );
}
