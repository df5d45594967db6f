import { Button, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SignUpOfferView } from '../../../../src/features/auth/view.js';
import { signUp } from '../../api/auth.js';
import { useData, useMutationOnce } from '../../api/queries.js';
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

/** Signs a person up and signs them in, unless a mail has to confirm the address first. */
export function SignUpForm({
  email = '',
  invitation,
  onDone,
}: {
  /** Set for an invitation: the email is fixed, and no account is created. */
  email?: string;
  /** The token of its link. */
  invitation?: string;
  onDone: (typed: NewAccountInput) => Promise<void>;
}) {
  const { t, i18n } = useTranslation(['auth', 'common']);
  const required = useRequired();
  const fieldErrorsOf = useFieldErrors();
  const countriesRule = useTrialCountriesRule();
  const isInvited = email !== '';
  const { data } = useData<SignUpOfferView>('/sign-up-offer');
  // Whoever confirms their address names the account afterwards.
  const namesAccount = !isInvited && data?.sendsMail !== true;
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  const form = useForm({
    initialValues: { name: '', email, password: '', account: '', countries: defaultTrialCountries() },
    validate: { name: required, email: required, password: required, countries: countriesRule },
  });
  const enter = useMutationOnce<void, typeof form.values>({
    mutationFn: async ({ account, countries, ...typed }) => {
      const { language } = i18n;
      const person = { ...typed, email: typed.email.trim(), language };
      const answer = await signUp({ ...person, ...(invitation !== undefined && { invitation }) });
      if (answer?.mailed === true) {
        setMailedTo(person.email);
        return;
      }
      await onDone({ account: account.trim() === '' ? typed.name : account, language, countries });
    },
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
  const { name, password } = form.values;
  if (mailedTo !== null)
    return (
      <div role="status">
        <Text fw={600}>{t('confirmSignUp.sent')}</Text>
        <Text size="sm">{t('confirmSignUp.sentText', { email: mailedTo })}</Text>
      </div>
    );
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
        {namesAccount && (
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
