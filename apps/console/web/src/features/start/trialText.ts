import { useTranslation } from 'react-i18next';
import type { TrialView } from '../../../../src/features/ledger/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

/** The limits of an account's trial in a sentence; null when it is not on trial, and while that is unknown. */
export function useTrialText(): string | null {
  const { t, i18n } = useTranslation('start');
  const { path } = useAccount();
  const nameOf = useCountryName();
  const { whole } = useNumbers();
  const { data } = useData<TrialView>(`${path}/trial`);
  if (data === undefined || data.countries === null) return null;
  return t('trial', {
    countries: new Intl.ListFormat(i18n.language).format(data.countries.map(nameOf)),
    formatted: whole(data.sendsPerDay),
  });
}
