import { MultiSelect } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import {
  HOME_COUNTRY,
  TRIAL_COUNTRIES_MAX,
  type SignUpOfferView,
} from '../../../../src/features/auth/view.js';
import { useAside } from '../../api/queries.js';
import { useCountryChoices } from '../../hooks/countries.js';

/** The preselected countries: that of the browser's language, and the home country of the service. */
export function defaultTrialCountries(): string[] {
  const { region } = new Intl.Locale(navigator.language).maximize();
  return [...new Set([region ?? HOME_COUNTRY, HOME_COUNTRY])];
}

export function TrialCountries({
  value,
  ...field
}: Pick<ComponentProps<typeof MultiSelect>, 'onChange' | 'onBlur' | 'error'> & { value: string[] }) {
  const { t } = useTranslation(['auth', 'common']);
  const data = useAside<SignUpOfferView>('/sign-up-offer');
  const choices = useCountryChoices(data?.countries ?? value);
  return (
    <MultiSelect
      label={t('fields.countries')}
      description={t('countries.hint', { count: TRIAL_COUNTRIES_MAX })}
      data={choices}
      value={value}
      required
      searchable
      hidePickedOptions
      maxValues={TRIAL_COUNTRIES_MAX}
      nothingFoundMessage={t('common:picker.nothing')}
      // Keeps two countries and the input on one line.
      styles={{ inputField: { minWidth: 24 } }}
      {...field}
    />
  );
}

export function useTrialCountriesRule(): (countries: readonly string[]) => string | null {
  const { t } = useTranslation('auth');
  return (countries) => (countries.length === 0 ? t('countries.missing') : null);
}
