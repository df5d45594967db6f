import { useTranslation } from 'react-i18next';

/** What is wrong with the name that somebody typed, as a sentence, or null. */
export function useNameRule(lengthMax: number, { optional = false } = {}): (typed: string) => string | null {
  const { t } = useTranslation(['account', 'common']);
  return (typed) => {
    const name = typed.trim();
    if (name === '') return optional ? null : t('common:faults.required');
    if ([...name].length > lengthMax) return t('nameTooLong', { max: lengthMax });
    return /\p{Cc}/u.test(name) ? t('common:faults.unfit') : null;
  };
}
