import { MultiSelect, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../../src/views/staffAccounts.js';
import type { CountriesView } from '../../../../../src/views/switches.js';
import { useData } from '../../../api/queries.js';
import { useCountryChoices, useCountryName } from '../../../parts/countries.js';
import { Section } from '../../../parts/section.js';
import { useAccountChange } from './change.js';
import { EditDialog } from './editDialog.js';
import { FormButtons } from '../../../parts/formButtons.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The countries that the account may send to. */
export function CountriesSection({ account }: Props) {
  const { t, i18n } = useTranslation('staff');
  const nameOf = useCountryName();
  const names = account.allowedCountries?.map(nameOf);
  return (
    <Section
      title={t('account.countries.title')}
      actions={
        <EditDialog title={t('account.countries.edit')}>
          {(close) => <CountriesForm account={account} onClose={close} />}
        </EditDialog>
      }
    >
      <Text size="sm">
        {names === undefined
          ? t('account.countries.all')
          : new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(names)}
      </Text>
    </Section>
  );
}

function CountriesForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation('staff');
  const { data } = useData<CountriesView>('/operations/countries');
  const choices = useCountryChoices(data?.countries ?? []);
  const change = useAccountChange(account.id, onClose);
  const form = useForm({
    initialValues: {
      isLimited: account.allowedCountries !== null,
      countries: account.allowedCountries ?? [],
    },
    validate: {
      countries: (countries, { isLimited }) =>
        isLimited && countries.length === 0 ? t('account.countries.missing') : null,
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ isLimited, countries }) =>
        change.send({ method: 'PUT', path: '/countries', body: { countries: isLimited ? countries : null } }),
      )}
      noValidate
    >
      <Stack>
        <Switch
          label={t('account.countries.switch')}
          description={t('account.countries.what')}
          data-autofocus
          {...form.getInputProps('isLimited', { type: 'checkbox' })}
        />
        {form.values.isLimited && (
          <MultiSelect
            label={t('account.countries.label')}
            data={choices}
            searchable
            hidePickedOptions
            nothingFoundMessage={t('picker.nothing')}
            {...form.getInputProps('countries')}
          />
        )}
        <FormButtons
          action={t('settings.save')}
          onClose={onClose}
          pending={change.pending}
          problem={change.problem}
        />
      </Stack>
    </form>
  );
}
