import i18next, { type ResourceKey } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { ptBR as first } from '../locales/pt-BR/first.js';
import type { ptBR } from '../locales/pt-BR/index.js';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    // Has more keys than English, because texts that the server sends in English need only a translation.
    resources: typeof first & typeof ptBR;
    enableSelector: false;
  }
}

type Texts = Record<string, ResourceKey>;

/** `first` has the texts of the sign-in page in each language. All other pages also need the rest. */
const TEXTS = {
  en: {
    first: async (): Promise<Texts> => (await import('../locales/en/first.js')).en,
    others: async (): Promise<Texts> => (await import('../locales/en/index.js')).en,
  },
  'pt-BR': {
    first: async (): Promise<Texts> => (await import('../locales/pt-BR/first.js')).ptBR,
    others: async (): Promise<Texts> => (await import('../locales/pt-BR/index.js')).ptBR,
  },
};
type Language = keyof typeof TEXTS;
const FIRST = ['auth', 'common'];

const STORED = 'onecode-language';

function preferred(): string {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // The browser may forbid storage; then its language is used.
  }
  return stored ?? (navigator.language.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en');
}

i18next.on('languageChanged', (language) => {
  document.documentElement.lang = language;
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
});

/** Resolves when the sign-in page can be shown, in the language of this browser. */
export const firstTexts = i18next
  .use(initReactI18next)
  .use({
    type: 'backend',
    read: async (language: Language, area: string) =>
      (await TEXTS[language][FIRST.includes(area) ? 'first' : 'others']())[area] ?? {},
  })
  .init({
    lng: preferred(),
    supportedLngs: Object.keys(TEXTS),
    fallbackLng: false,
    // Copied, because i18next adds the other namespaces to the given list later.
    ns: [...FIRST],
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    // Texts that the server sends in English have no English file to load.
    react: { useSuspense: false },
  });

/** Resolves when every page can be shown. */
export async function loadTexts(): Promise<void> {
  const language = i18next.language ?? preferred();
  const [others] = await Promise.all([TEXTS[language as Language].others(), firstTexts]);
  await i18next.loadNamespaces(Object.keys(others));
}
