import { readContract } from '../src/contract.js';
import { errorsPage } from '../src/errorsPage.js';
import { referencePages } from '../src/referencePages.js';
import { readCatalogue, translator } from '../src/translations.js';

const asked = new Set<string>();
const t = translator('pt-BR', (text) => asked.add(text));
referencePages(readContract(), t);
errorsPage(readContract(), t);
const catalogue = readCatalogue('pt-BR');

it('every text of the contract and of the problem table has a Portuguese translation', () => {
  expect([...asked].filter((text) => !catalogue.has(text))).toEqual([]);
});

it('every translation belongs to an existing text', () => {
  expect([...catalogue.keys()].filter((text) => !asked.has(text))).toEqual([]);
});

it('a translator leaves an unknown text in English, and translates the paragraphs around it', () => {
  expect(t('An unknown text.\n\nThe HTTP status.')).toBe('An unknown text.\n\nO status HTTP.');
});
