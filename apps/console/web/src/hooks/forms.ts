import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { useMutationOnce } from '../api/queries.js';
import { useNumbers } from './formats.js';

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

/** A mutation by a form, which shows which of its fields the server refused. */
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

/** Makes rules for whole numbers from `min` to `max`, or null where they may be off. */
export function useRangeRule(): (bounds: { min: number; max: number }) => (typed: unknown) => string | null {
  const { t } = useTranslation();
  const { whole } = useNumbers();
  return ({ min, max }) =>
    (typed) =>
      typed === null || (typeof typed === 'number' && Number.isInteger(typed) && typed >= min && typed <= max)
        ? null
        : t('rules.range', { min: whole(min), max: whole(max) });
}

/** A `ref` that focuses the first field of a page or step when it appears. */
export const focusOnMount = (field: HTMLElement | null): void => field?.focus();
