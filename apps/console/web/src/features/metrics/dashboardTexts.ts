import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import portuguese from './dashboardTexts.pt-BR.json';

const TEXTS: Readonly<Record<string, string>> = portuguese;

/** Translates a text of the dashboard's file, which is in English; a text without translation stays as it is. */
export function useDashboardText(): (english: string) => string {
  const { language } = useTranslation().i18n;
  return useCallback((english) => (language === 'pt-BR' ? (TEXTS[english] ?? english) : english), [language]);
}
