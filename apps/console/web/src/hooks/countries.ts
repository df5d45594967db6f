import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';

/** The code of numbers that belong to no country. */
export const NO_COUNTRY = 'ZZ';

/** Names countries (ISO 3166 codes) in the user's language. */
export function useCountryName(): (code: string) => string {
  const { t, i18n } = useTranslation();
  const { language } = i18n;
  const names = useMemo(
    () => new Intl.DisplayNames(language, { type: 'region', fallback: 'code' }),
    [language],
  );
  return useCallback((code) => (code === NO_COUNTRY ? t('noCountry') : (names.of(code) ?? code)), [t, names]);
}

/** Options of a country select, sorted by name, each with its code. */
export function useCountryChoices(codes: readonly string[]): { value: string; label: string }[] {
  const { language } = useTranslation().i18n;
  const nameOf = useCountryName();
  return codes
    .map((code) => ({ value: code, label: `${nameOf(code)} (${code})` }))
    .toSorted((one, other) => one.label.localeCompare(other.label, language));
}
