import { readContract } from '../src/contract.js';
import { errorsPage } from '../src/errorsPage.js';
import { referencePages } from '../src/referencePages.js';
import { readCatalogue, translator } from '../src/translations.js';

const asked = new Set<string>();
const t = translator('pt-BR', (text) => asked.add(text));
referencePages(readContract(), t);
errorsPage(readContract(), t);
const catalogue = readCatalogue('pt-BR');

it('every text of the contract and of the problem table has a Portuguese one', () => {
  expect([...asked].filter((text) => !catalogue.has(text))).toEqual([]);
});

it('no translation is of a text that is no more', () => {
  expect([...catalogue.keys()].filter((text) => !asked.has(text))).toEqual([]);
});

it('a text that is new stays English, and the rest of its paragraph’s neighbours is translated', () => {
  expect(t('An unknown text.\n\nThe HTTP status.')).toBe('An unknown text.\n\nO status HTTP.');
});
