import { Anchor, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SignUpOfferView } from '../../../../src/features/auth/view.js';
import { signUp } from '../../api/auth.js';
import { useAside } from '../../api/queries.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { Failure } from '../../components/states.js';
import { PageForm } from '../../components/pageForm.js';
import { NewPassword } from '../../components/newPassword.js';
import { focusOnMount, useFormMutation, useRequired } from '../../hooks/forms.js';
import { defaultTrialCountries, TrialCountries, useTrialCountriesRule } from './trialCountries.js';

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
  const countriesRule = useTrialCountriesRule();
  const isInvited = email !== '';
  const data = useAside<SignUpOfferView>('/sign-up-offer');
  // Users who have to confirm their address name the account afterwards.
  const namesAccount = !isInvited && data?.sendsMail !== true;
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  const [sentCount, setSentCount] = useState(0);
  const form = useForm({
    initialValues: { name: '', email, password: '', account: '', countries: defaultTrialCountries() },
    validate: { name: required, email: required, password: required, countries: countriesRule },
  });
  const enter = useFormMutation(form, async ({ account, countries, ...typed }: typeof form.values) => {
    const { language } = i18n;
    const person = { ...typed, email: typed.email.trim(), language };
    const answer = await signUp({ ...person, ...(invitation !== undefined && { invitation }) });
    if (answer?.mailed === true) {
      setMailedTo(person.email);
      setSentCount((count) => count + 1);
    } else await onDone({ account: account.trim() === '' ? typed.name : account, language, countries });
  });
  const changeAddress = (): void => {
    setMailedTo(null);
    setSentCount(0);
    enter.reset();
  };
  const { name, password } = form.values;
  if (mailedTo !== null)
    return (
      <Stack>
        <div role="status" aria-busy={enter.isPending}>
          <Text size="md" fw={600}>
            {t(sentCount > 1 ? 'confirmSignUp.sentAgain' : 'forgottenPassword.sent')}
          </Text>
          <Text>{t('confirmSignUp.sentText', { email: mailedTo })}</Text>
        </div>
        {enter.error !== null && <Failure problem={enter.error} />}
        <Group justify="space-between">
          <Anchor component="button" type="button" onClick={() => enter.mutate(form.values)}>
            {t('confirmSignUp.sendAgain')}
          </Anchor>
          {!isInvited && (
            <Anchor component="button" type="button" onClick={changeAddress}>
              {t('confirmSignUp.wrongAddress')}
            </Anchor>
          )}
        </Group>
      </Stack>
    );
  return (
    <PageForm
      onSubmit={form.onSubmit((typed) => enter.mutate(typed))}
      action={t(isInvited ? 'invitation.accept' : 'signUp.action')}
      change={enter}
    >
      <TextInput
        label={t('fields.name')}
        autoComplete="name"
        required
        ref={focusOnMount}
        maxLength={200}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('common:words.email')}
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
      <LanguageSelect
        value={i18n.language}
        onChange={(language) => language !== null && void i18n.changeLanguage(language)}
      />
    </PageForm>
  );
}
