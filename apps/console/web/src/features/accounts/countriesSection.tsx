import { MultiSelect, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import type { CountriesView } from '../../../../src/features/holds/view.js';
import { useData } from '../../api/queries.js';
import { useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { DialogForm } from '../../components/dialog.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from './editableSection.js';

interface Props {
  account: StaffAccountDetailsView;
}

/** The countries that the account may send to. */
export function CountriesSection({ account }: Props) {
  const { t, i18n } = useTranslation('accounts');
  const nameOf = useCountryName();
  const named = (codes: readonly string[]): string =>
    new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(codes.map(nameOf));
  return (
    <EditableSection
      title={t('countries.title')}
      edit={t('countries.edit')}
      now={
        <>
          <Text size="sm">
            {account.allowedCountries === null ? t('countries.all') : named(account.allowedCountries)}
          </Text>
          {account.trialCountries !== null && (
            <Text size="sm" c="dimmed" mt={4}>
              {t('countries.trial', { countries: named(account.trialCountries) })}
            </Text>
          )}
        </>
      }
    >
      {(close) => <CountriesForm account={account} onClose={close} />}
    </EditableSection>
  );
}

function CountriesForm({ account, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation(['accounts', 'common']);
  const { data } = useData<CountriesView>('/staff/countries');
  const choices = useCountryChoices(data?.countries ?? []);
  const change = useAccountChange(account.id, onClose);
  const form = useForm({
    initialValues: {
      isLimited: account.allowedCountries !== null,
      countries: account.allowedCountries ?? [],
    },
    validate: {
      countries: (countries, { isLimited }) =>
        isLimited && countries.length === 0 ? t('countries.missing') : null,
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isLimited, countries }) =>
        change.send({ method: 'PUT', path: '/countries', body: { countries: isLimited ? countries : null } }),
      )}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      <Switch
        label={t('countries.switch')}
        description={t('countries.what')}
        data-autofocus
        {...form.getInputProps('isLimited', { type: 'checkbox' })}
      />
      {form.values.isLimited && (
        <MultiSelect
          label={t('countries.label')}
          data={choices}
          searchable
          hidePickedOptions
          nothingFoundMessage={t('common:picker.nothing')}
          {...form.getInputProps('countries')}
        />
      )}
    </DialogForm>
  );
}
