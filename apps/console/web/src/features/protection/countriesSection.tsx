import { MultiSelect, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useCountryChoices, useCountryName } from '../../hooks/countries.js';
import { DialogForm } from '../../components/dialog.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from './editableSection.js';
import type { ProtectionProps } from './protectionSections.js';

/** The countries that the account may send to. */
export function CountriesSection({ path, protection, mayChange }: ProtectionProps) {
  const { t, i18n } = useTranslation('protection');
  const nameOf = useCountryName();
  const named = (codes: readonly string[]): string =>
    new Intl.ListFormat(i18n.language, { type: 'conjunction' }).format(codes.map(nameOf));
  return (
    <EditableSection
      id="countries"
      mayChange={mayChange}
      title={t('countries.title')}
      edit={t('countries.edit')}
      now={
        <>
          <Text size="sm">
            {protection.allowedCountries === null ? t('countries.all') : named(protection.allowedCountries)}
          </Text>
          {protection.trialCountries !== null && (
            <Text size="sm" c="dimmed" mt={4}>
              {t('countries.trial', { countries: named(protection.trialCountries) })}
            </Text>
          )}
        </>
      }
    >
      {(close) => <CountriesForm path={path} protection={protection} onClose={close} />}
    </EditableSection>
  );
}

function CountriesForm({
  path,
  protection,
  onClose,
}: Omit<ProtectionProps, 'mayChange'> & { onClose: () => void }) {
  const { t } = useTranslation(['protection', 'common']);
  const choices = useCountryChoices(protection.countryChoices);
  const change = useAccountChange(path, onClose);
  const form = useForm({
    initialValues: {
      isLimited: protection.allowedCountries !== null,
      countries: protection.allowedCountries ?? [],
    },
    validate: {
      countries: (countries, { isLimited }) =>
        isLimited && countries.length === 0 ? t('countries.missing') : null,
    },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ isLimited, countries }) =>
        change.send({
          method: 'PUT',
          path: '/protection/countries',
          body: { countries: isLimited ? countries : null },
        }),
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
