import { changeSettings, readSettings } from '@onecode/store/accounts';
import { TEST_ACTOR, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

describe('readSettings', () => {
  it('returns the settings to concurrent callers', async () => {
    const [first, second] = await Promise.all([readSettings(store.database), readSettings(store.database)]);
    expect(first).toEqual(second);
  });
});

describe('changeSettings', () => {
  it('changes all settings in one transaction, and logs the settings that changed', async () => {
    const { codeValiditySeconds } = await readSettings(store.database);
    const changes = { freeSends: 25, codeValiditySeconds, guessBudget: null };
    expect(await changeSettings(store.database, TEST_ACTOR, changes, 'a test')).toMatchObject(changes);
    const entries = await store.sql('select details from audit_entries order by id');
    const [before, after] = [
      { freeSends: 10, guessBudget: 100 },
      { freeSends: 25, guessBudget: null },
    ];
    expect(entries).toEqual([{ details: { before, after, reason: 'a test' } }]);
  });

  it('changes nothing if one value is not allowed', async () => {
    const before = await readSettings(store.database);
    for (const guessBudget of [1, 101])
      await expect(
        changeSettings(store.database, TEST_ACTOR, { freeSends: 99, guessBudget }),
      ).rejects.toThrow();
    expect(await readSettings(store.database)).toEqual(before);
  });
});
