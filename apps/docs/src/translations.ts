import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const LANGUAGES = ['en', 'pt-BR'] as const;
export type Language = (typeof LANGUAGES)[number];
/** Gives a text of the contract, the problem table or a generated page in one language. */
export type Translate = (text: string) => string;

/** The folder of a language below the pages, with its slash. */
export const FOLDER: Record<Language, string> = { en: '', 'pt-BR': 'pt-br/' };

/** How `untranslated` looks at a text: white space does not count, so that a text may be wrapped anew. */
const normal = (text: string): string => text.replace(/\s+/g, ' ').trim();

const CATALOGUE = new URL('../translations/pt-BR.yaml', import.meta.url);

/** The English texts with their Portuguese ones. */
export function readCatalogue(): Map<string, string> {
  const entries = parse(readFileSync(CATALOGUE, 'utf8')) as { en: string; pt: string }[];
  return new Map(entries.map(({ en, pt }) => [normal(en), pt.trim()]));
}

/**
 * A text without a translation stays English, so that a change of the contract still builds; the test of the translations names it.
 *
 * @param onMissing is told each text that has none
 */
export function translator(language: Language, onMissing: (text: string) => void = () => {}): Translate {
  if (language === 'en') return (text) => text.trim();
  const catalogue = readCatalogue();
  return (text) => {
    const translated = catalogue.get(normal(text));
    if (translated === undefined) onMissing(normal(text));
    return translated ?? text.trim();
  };
}
