import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import common from '../locales/en/common.json';

/** A sentence for each field that the server refused, by the word that it gave. */
export function useFaultTexts(): (problem: ApiProblem) => Record<string, string> {
  const { t } = useTranslation();
  return ({ errors }) =>
    Object.fromEntries(
      Object.entries(errors).map(([field, word]) => [
        field,
        t(isKnown(word) ? (`faults.${word}` as const) : 'faults.unfit'),
      ]),
    );
}

const isKnown = (word: string): word is keyof typeof common.faults => word in common.faults;

/** Says of an empty field that it has to be filled in. */
export function useRequired(): (typed: string) => string | null {
  const { t } = useTranslation();
  return (typed) => (typed.trim() === '' ? t('faults.required') : null);
}
