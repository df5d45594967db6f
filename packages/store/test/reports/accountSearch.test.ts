import { searchAccounts } from '@onecode/store';
import { buildAccount, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

const namesOf = async (text: string): Promise<string[]> =>
  (await searchAccounts(store.database, { text, limit: 10 })).map(({ name }) => name);

describe('a search for accounts', () => {
  beforeAll(async () => {
    for (const name of ['Loja Azul', 'Azul & Filhos Ltda.', 'São João Pães', "O'Neil", 'ACME-Brasil'])
      await buildAccount(store.database, { name });
  });

  it.each([
    ['azul', ['Azul & Filhos Ltda.', 'Loja Azul']],
    ['LOJA az', ['Loja Azul']],
    ['azul loja', ['Loja Azul']],
    ['zul', []],
    ['filhos, ltda', ['Azul & Filhos Ltda.']],
    ['são', ['São João Pães']],
    ["o'neil", ["O'Neil"]],
    ['brasil', ['ACME-Brasil']],
    ['acme-bra', ['ACME-Brasil']],
    ['azul loja nova', []],
    ["'", []],
    ['\\', []],
    [`' | 'azul`, ['Azul & Filhos Ltda.', 'Loja Azul']],
    ['a:* | l & !(x)', []],
    ['az\0ul', []],
    ['   ', ['ACME-Brasil', "O'Neil", 'São João Pães', 'Azul & Filhos Ltda.', 'Loja Azul']],
    ['a'.repeat(5_000), []],
  ])('by the beginnings of words: %j', async (text, names) => {
    expect(await namesOf(text)).toEqual(names);
  });
});
