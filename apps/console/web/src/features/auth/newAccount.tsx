import { Button, Container, Paper, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { NewAccountView } from '../../../../src/features/auth/view.js';
import { useChange } from '../../api/queries.js';
import { useSession } from '../../app/session.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { Page } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { openNewAccount } from '../start/firstKey.js';
import { defaultTrialCountries, TrialCountries, useTrialCountriesRule } from './trialCountries.js';

/** Creates an account for a user who belongs to none. */
export function NewAccount() {
  const { t } = useTranslation(['auth', 'common']);
  const { user } = useSession();
  const navigate = useNavigate();
  const client = useQueryClient();
  const fieldErrorsOf = useFieldErrors();
  const { mutate, isPending, error } = useChange<NewAccountView>('/session');
  const form = useForm({
    initialValues: { name: user.name, language: user.language, countries: defaultTrialCountries() },
    validate: { name: useRequired(), countries: useTrialCountriesRule() },
  });
  const submit = (body: typeof form.values): void =>
    mutate(
      { method: 'POST', path: '/accounts', body },
      {
        onSuccess: (made) => void navigate(openNewAccount(client, made), { replace: true }),
        onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
      },
    );
  return (
    <Container size={480} px={0}>
      <Page title={t('newAccount.title')} description={t('newAccount.text')}>
        <Paper withBorder p="lg">
          <form onSubmit={form.onSubmit(submit)} noValidate>
            <Stack>
              {error !== null && error.code !== 'invalid_input' && <Failure problem={error} />}
              <TextInput
                label={t('fields.account')}
                required
                maxLength={200}
                {...form.getInputProps('name')}
              />
              <Select
                label={t('fields.language')}
                description={t('newAccount.languageHint')}
                data={(['en', 'pt-BR'] as const).map((value) => ({
                  value,
                  label: t(`common:languages.${value}`),
                }))}
                allowDeselect={false}
                {...form.getInputProps('language')}
              />
              <TrialCountries {...form.getInputProps('countries')} value={form.values.countries} />
              <Button type="submit" loading={isPending}>
                {t('newAccount.action')}
              </Button>
            </Stack>
          </form>
        </Paper>
      </Page>
    </Container>
  );
}
