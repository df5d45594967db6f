import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const LANGUAGES = ['en', 'pt-BR'] as const;
export type Language = (typeof LANGUAGES)[number];
/** Returns a text of the contract, the problem table or a generated page in one language. */
export type Translate = (text: string) => string;

/** The folder of a language in the pages, with its slash. */
export const FOLDER: Record<Language, string> = { en: '', 'pt-BR': 'pt-br/' };

/** The separator between two paragraphs or list items, including the mark of a list item. */
const BETWEEN = /(\n\s*\n(?:- |\d+\. )?|\n(?:- |\d+\. ))/;

/** Normalizes white space, so that a text can be rewrapped. */
const normal = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Returns the English texts with their Portuguese translations. */
export function readCatalogue(name: 'pt-BR' | 'pt-BR-code'): Map<string, string> {
  const file = new URL(`../translations/${name}.yaml`, import.meta.url);
  const entries = parse(readFileSync(file, 'utf8')) as { en: string; pt: string }[];
  return new Map(entries.map(({ en, pt }) => [en, pt]));
}

/**
 * Translates by paragraph and list item. A text without a translation stays English, so that a change of the contract still builds; a test
 * lists it.
 *
 * @param onText is called with every paragraph and item
 */
export function translator(language: Language, onText: (text: string) => void = () => {}): Translate {
  const catalogue = language === 'en' ? new Map<string, string>() : readCatalogue(language);
  return (text) =>
    text
      .trim()
      .split(BETWEEN)
      .map((part, index) => {
        if (index % 2 === 1) return part;
        onText(normal(part));
        return catalogue.get(normal(part)) ?? part;
      })
      .join('');
}
