import { useTranslation } from 'react-i18next';
import type { AuditValue } from '../../../../src/features/audit/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { useAddresses, useNumbers, useTimes } from '../../hooks/formats.js';
import { useBlockReason } from '../../hooks/blockReason.js';
import audit from '../../locales/en/audit.json';

const MONTH = /^\d{4}-\d{2}$/;
const COUNTRY = /^[A-Z]{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

type Field = keyof typeof audit.fields;
const isField = (name: string): name is Field => name in audit.fields;
const isNull = (name: string): name is keyof typeof audit.nulls => name in audit.nulls;
const isValue = (value: string): value is keyof typeof audit.values => value in audit.values;

/** The names and values of audit entries in the user's language; those without a text are shown as they are. */
export function useAuditTexts() {
  const { t, i18n } = useTranslation('audit');
  const { whole } = useNumbers();
  const time = useTimes();
  const address = useAddresses();
  const price = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 6 });
  const month = new Intl.DateTimeFormat(i18n.language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const countryName = useCountryName();
  const blockReason = useBlockReason();
  const field = (name: string): string => (isField(name) ? t(`fields.${name}`) : name);

  /** The meaning of null depends on the field. */
  function value(given: AuditValue, name: string): string {
    if (given === null) return isNull(name) ? t(`nulls.${name}`) : t('nothing');
    if (typeof given === 'number') return name === 'price' ? price.format(given) : whole(given);
    if (typeof given === 'boolean') return given ? t('yes') : t('no');
    if (typeof given === 'string') {
      if (TIME.test(given)) return time(given);
      if (MONTH.test(given)) return month.format(new Date(`${given}-01T00:00:00Z`));
      if (COUNTRY.test(given)) return countryName(given);
      if (name === 'clientAddress') return address(given);
      if (name === 'ended') return blockReason({ reason: given, explanation: null });
      return isValue(given) ? t(`values.${given}`) : given;
    }
    if (Array.isArray(given))
      return given.length === 0 ? t('nothing') : given.map((one) => value(one, name)).join(', ');
    return Object.entries(given)
      .map(([name, one]) => `${field(name)} ${value(one, name)}`)
      .join(', ');
  }

  return {
    // The key is built at run time; a test checks that every action has a text.
    action: (action: string): string =>
      t(`actions.${action}` as 'actions.account.create', { defaultValue: action }),
    field,
    value,
  };
}
