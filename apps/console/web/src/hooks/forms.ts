import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { useMutationOnce } from '../api/queries.js';
import { readNumber } from '../components/readNumber.js';

/** Messages for the fields that the server refused, by field. */
export function useFieldErrors(): (problem: ApiProblem) => Record<string, string> {
  const { t } = useTranslation();
  return ({ errors }) =>
    Object.fromEntries(
      Object.entries(errors).map(([field, code]) => [
        field,
        t([`fieldErrors.${code}` as 'fieldErrors.unfit', 'fieldErrors.unfit']),
      ]),
    );
}

/** A mutation of a form that shows the fields that the server refused. */
export function useFormMutation<V>(
  form: { setErrors: (errors: Record<string, string>) => void },
  mutationFn: (typed: V) => Promise<void>,
) {
  const fieldErrorsOf = useFieldErrors();
  return useMutationOnce<void, V>({
    mutationFn,
    onError: (problem) => form.setErrors(fieldErrorsOf(problem)),
  });
}

export function useRequired(): (typed: string) => string | null {
  const { t } = useTranslation();
  return (typed) => (typed.trim() === '' ? t('fieldErrors.required') : null);
}

/** Validates a name: its length in characters, and no control characters. */
export function useNameRule(lengthMax: number, { optional = false } = {}): (typed: string) => string | null {
  const { t } = useTranslation();
  return (typed) => {
    const name = typed.trim();
    if (name === '') return optional ? null : t('fieldErrors.required');
    if ([...name].length > lengthMax) return t('rules.nameTooLong', { max: lengthMax });
    return /\p{Cc}/u.test(name) ? t('fieldErrors.unfit') : null;
  };
}

export interface NumberBounds {
  min: number;
  max: number;
  /** The largest number of decimals. Default: 0. */
  decimals?: number;
}

/** Makes rules for the values of number fields, which are null while they are off. A rule returns the error of a value. */
export function useNumberRule(): (bounds: NumberBounds) => (value: number | string | null) => string | null {
  const { t, i18n } = useTranslation();
  const { language } = i18n;
  const write = (number: number): string => number.toLocaleString(language, { maximumFractionDigits: 6 });
  return ({ min, max, decimals = 0 }) => {
    const kind = decimals === 0 ? 'whole' : 'decimal';
    const range = t(`rules.${kind}.range`, { min: write(min), max: write(max) });
    return (value) => {
      if (value === null) return null;
      if (typeof value === 'number') return value >= min && value <= max ? null : range;
      const fault = readNumber(value, language, decimals);
      if (fault === 'empty' || fault === 'large') return range;
      if (fault === 'thousands') {
        const thousands = Number(value.replaceAll(/\D/g, ''));
        return t('rules.whole.thousands', {
          typed: value.trim(),
          meant: write(thousands / 1_000),
          thousands: write(thousands),
        });
      }
      return fault === 'decimals' ? t(`rules.${kind}.decimals`, { decimals }) : t(`rules.${kind}.digits`);
    };
  };
}

/** A `ref` that focuses the first field of a page or step when it appears. */
export const focusOnMount = (field: HTMLElement | null): void => field?.focus();
