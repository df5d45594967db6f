import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from '../locales/en/index.js';
import { ptBR } from '../locales/pt-BR/index.js';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    // More than English: what the server says in English is here for translation alone, by its name.
    resources: typeof ptBR;
    enableSelector: false;
  }
}

const STORED = 'onecode-language';

function preferred(): string {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // The browser may forbid storage; its language then decides.
  }
  return stored ?? (navigator.language.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en');
}

await i18next.use(initReactI18next).init({
  lng: preferred(),
  fallbackLng: 'en',
  supportedLngs: ['en', 'pt-BR'],
  defaultNS: 'common',
  resources: { en, 'pt-BR': ptBR },
  interpolation: { escapeValue: false },
});

const apply = (language: string): void => {
  document.documentElement.lang = language;
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
};
apply(i18next.language);
i18next.on('languageChanged', apply);
