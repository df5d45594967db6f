import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import common from '../locales/en/common.json';

/** A sentence for each field that the server refused, by the word that it gave. */
export function useFieldErrors(): (problem: ApiProblem) => Record<string, string> {
  const { t } = useTranslation();
  return ({ errors }) =>
    Object.fromEntries(
      Object.entries(errors).map(([field, word]) => [
        field,
        t(isKnown(word) ? (`fieldErrors.${word}` as const) : 'fieldErrors.unfit'),
      ]),
    );
}

const isKnown = (word: string): word is keyof typeof common.fieldErrors => word in common.fieldErrors;

/** Says of an empty field that it has to be filled in. */
export function useRequired(): (typed: string) => string | null {
  const { t } = useTranslation();
  return (typed) => (typed.trim() === '' ? t('fieldErrors.required') : null);
}

/** What is wrong with the name that somebody typed, as a sentence, or null. */
export function useNameRule(lengthMax: number, { optional = false } = {}): (typed: string) => string | null {
  const { t } = useTranslation();
  return (typed) => {
    const name = typed.trim();
    if (name === '') return optional ? null : t('fieldErrors.required');
    if ([...name].length > lengthMax) return t('rules.nameTooLong', { max: lengthMax });
    return /\p{Cc}/u.test(name) ? t('fieldErrors.unfit') : null;
  };
}

/** For the `ref` of the field that a page or step begins with: whoever types or listens is there at once. */
export const focusOnMount = (field: HTMLElement | null): void => field?.focus();
