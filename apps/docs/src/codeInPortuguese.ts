import { readFileSync } from 'node:fs';
import { FOLDER, readCatalogue } from './translations.js';

const FOLDER_HERE = FOLDER['pt-BR'];
const BLOCK = /^(```.*\n)([\s\S]*?)^```$/gm;

/**
 * Fills the empty code blocks of a Portuguese page with the code of the English page, with its comments and texts in Portuguese.
 *
 * @param page its path
 */
export function withCode(page: string, text: string): string {
  if (!page.startsWith(FOLDER_HERE)) return text;
  const english = readFileSync(
    new URL(`../pages/${page.slice(FOLDER_HERE.length)}`, import.meta.url),
    'utf8',
  );
  const codes = [...english.matchAll(BLOCK)].map(([, , code = '']) => code);
  const catalogue = readCatalogue('pt-BR-code');
  const inPortuguese = (code: string): string =>
    [...catalogue].reduce((translated, [en, pt]) => translated.replaceAll(en, () => pt), code);
  return text.replaceAll(BLOCK, (_, opening: string, code: string) => {
    const same = codes.shift() ?? '';
    return `${opening}${code.trim() === '' ? inPortuguese(same) : code}\`\`\``;
  });
}
