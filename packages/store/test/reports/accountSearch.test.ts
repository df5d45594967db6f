import { placeHold, newId, searchAccounts, suspendAccount } from '@onecode/store';
import { buildAccount, buildCaller, buildSend, TEST_ACTOR, useTestDatabase } from '@onecode/testing';

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

  it('by id finds one or none', async () => {
    const id = await buildAccount(store.database, { name: 'By its id' });
    expect(await namesOf(id)).toEqual(['By its id']);
    expect(await namesOf(newId())).toEqual([]);
  });

  it('tells what is left, what was sent and what is stopped', async () => {
    const caller = await buildCaller(store.database, 'live', { name: 'Full', freeQuota: 5, credits: 7 });
    await buildSend(store.database, caller);
    await suspendAccount(store.database, TEST_ACTOR, caller.accountId, 'unpaid');
    const target = { kind: 'account', target: caller.accountId } as const;
    const find = () => searchAccounts(store.database, { text: caller.accountId, limit: 1 });
    expect(await find()).toMatchObject([
      { freeQuota: 4, credits: 7, sendsCreated: 1, suspensionReason: 'unpaid', held: false },
    ]);
    await placeHold(store.database, TEST_ACTOR, { ...target, reason: 'pumped' });
    expect(await find()).toMatchObject([{ id: caller.accountId, held: true, suspendedAt: expect.any(Date) }]);
  });

  it('is answered page by page, newest first', async () => {
    const made: string[] = [];
    for (let n = 0; n < 3; n++) made.unshift(await buildAccount(store.database, { name: 'Paged' }));
    const first = await searchAccounts(store.database, { text: 'paged', limit: 2 });
    const second = await searchAccounts(store.database, { text: 'paged', before: first[1]!.id, limit: 2 });
    expect([...first, ...second].map(({ id }) => id)).toEqual(made);
  });
});
