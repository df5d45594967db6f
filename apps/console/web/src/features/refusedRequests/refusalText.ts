import { useTranslation } from 'react-i18next';

/** Returns the function that gives the API's reason in the user's language, or the original English. */
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
