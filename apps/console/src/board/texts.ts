import { readFileSync } from 'node:fs';
import type { Locale } from '@onecode/domain';

/** The texts that the board has in addition to bull-board's own. */
type BoardTexts = Readonly<
  Record<'name' | 'back' | 'unavailable' | 'readOnly' | 'refused' | 'openSend', string>
>;

/** Reads a file of the pages' locales. */
const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../web/src/locales/${file}`, import.meta.url), 'utf8'));

export const BOARD_TEXTS: Readonly<Record<Locale, BoardTexts>> = {
  en: read('en/board.json') as BoardTexts,
  'pt-BR': read('pt-BR/board.json') as BoardTexts,
};
