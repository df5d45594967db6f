import { Container, Paper, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { NewAccountView } from '../../../../src/features/auth/view.js';
import { useSession } from '../../app/session.js';
import { post, useChange } from '../../hooks/change.js';
import { useRequired } from '../../hooks/forms.js';
import { Page } from '../../components/page.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { PageForm } from '../../components/pageForm.js';
import { keepFirstKey, newAccountPath } from '../start/firstKey.js';
import { defaultTrialCountries, TrialCountries, useTrialCountriesRule } from './trialCountries.js';

export function NewAccount() {
  const { t } = useTranslation('auth');
  const { user } = useSession();
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = useForm({
    initialValues: { name: user.name, language: user.language, countries: defaultTrialCountries() },
    validate: { name: useRequired(), countries: useTrialCountriesRule() },
  });
  const create = useChange<NewAccountView>(['/session'], {
    // The refreshed session makes the start page close this form, and the next page needs the key.
    beforeRefresh: (made) => keepFirstKey(client, made),
    onDone: ({ id }) => void navigate(newAccountPath(client, id), { replace: true }),
    form,
  });
  return (
    <Container size={480} px={0}>
      <Page title={t('newAccount.title')} description={t('newAccount.text')}>
        <Paper withBorder p="lg">
          <PageForm
            onSubmit={form.onSubmit((body) => create.mutate(post('/accounts', body)))}
            action={t('signUp.action')}
            change={create}
          >
            <TextInput label={t('fields.account')} required maxLength={200} {...form.getInputProps('name')} />
            <LanguageSelect description={t('newAccount.languageHint')} {...form.getInputProps('language')} />
            <TrialCountries {...form.getInputProps('countries')} value={form.values.countries} />
          </PageForm>
        </Paper>
      </Page>
    </Container>
  );
}
