import { readFileSync } from 'node:fs';
import type { Locale } from '@onecode/domain';
import type { Explanation } from '@onecode/whatsapp';

/** The texts that the board has besides bull-board's own. */
type BoardTexts = Readonly<
  Record<
    | 'name'
    | 'back'
    | 'away'
    | 'readOnly'
    | 'refused'
    | 'openSend'
    | 'withoutCode'
    | 'unreadable_token'
    | 'unreadable_code',
    string
  >
>;

/** Reads a file of the pages' locales. */
const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../web/src/locales/${file}`, import.meta.url), 'utf8'));

export const BOARD_TEXTS: Readonly<Record<Locale, BoardTexts>> = {
  en: read('en/board.json') as BoardTexts,
  'pt-BR': read('pt-BR/board.json') as BoardTexts,
};

const { meanings } = read('pt-BR/providerErrors.json') as { meanings: Record<string, string> };

/** What a provider's error means, in a person's language. */
export const meaningIn = (language: Locale, { meaning: { name, english } }: Explanation): string =>
  language === 'en' ? english : (meanings[name] ?? english);
