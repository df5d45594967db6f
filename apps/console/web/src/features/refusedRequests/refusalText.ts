import { useTranslation } from 'react-i18next';

/** Returns the function that gives what the API said in the user's language, or as it said it, in English. */
export function useRefusalText(): (refusal: { text: string; detail: string }) => {
  text: string;
  isTranslated: boolean;
} {
  const { t, i18n } = useTranslation('refusals');
  return ({ text, detail }) => {
    const translated = t(text as 'rate_limited', { defaultValue: detail });
    return { text: translated, isTranslated: i18n.language !== 'en' && translated !== detail };
  };
}
