import { hashApiKey } from '@onecode/domain';
import {
  createApiKey,
  createSend,
  grantCredits,
  limitApplication,
  readCallersVersion,
  recordKeyUsage,
  renameApplication,
  resumeAccount,
  revokeApiKey,
  suspendAccount,
} from '@onecode/store';
import { buildCaller, newSend, TEST_ACTOR, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();

describe('the version of the callers', () => {
  let caller: TestCaller;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'live');
  });
  const version = () => readCallersVersion(store.database);
  const changed = async (change: () => Promise<unknown>): Promise<boolean> => {
    const before = await version();
    await change();
    return (await version()) !== before;
  };
  const sql = (text: string) => () =>
    store.sql(text.replace(':key', `'${caller.keyId}'`).replace(':application', `'${caller.applicationId}'`));

  it.each<[string, () => Promise<unknown>]>([
    ['a key is revoked', () => revokeApiKey(store.database, TEST_ACTOR, caller.keyId)],
    ['a key is revoked by hand', sql('update api_keys set revoked_at = now() where id = :key')],
    ['a key is deleted', sql('delete from api_keys where id = :key')],
    ['a key gets another hash', sql(`update api_keys set hash = sha256('other') where id = :key`)],
    [
      'a key gets another application',
      sql('update api_keys set application_id = application_id where id = :key'),
    ],
    [
      'an application gets another mode',
      sql(`update applications set mode = 'test' where id = :application`),
    ],
    ['an account is suspended', () => suspendAccount(store.database, TEST_ACTOR, caller.accountId, 'unpaid')],
    [
      'an account is resumed',
      async () => {
        await suspendAccount(store.database, TEST_ACTOR, caller.accountId, 'unpaid');
        const before = await version();
        await resumeAccount(store.database, TEST_ACTOR, caller.accountId);
        expect(await version()).not.toBe(before);
      },
    ],
  ])('changes when %s', async (_, change) => {
    expect(await changed(change)).toBe(true);
  });

  it('is none that was before, when the row goes back to what it was', async () => {
    const seen = [await version()];
    for (const round of [1, 2]) {
      const [before] = await store.sql<{ row: object }>('select to_jsonb(v) as row from callers_version v');
      await revokeApiKey(store.database, TEST_ACTOR, (await buildCaller(store.database, 'live')).keyId);
      seen.push(await version());
      await store.sql('delete from callers_version');
      await store.sql(
        'insert into callers_version select * from jsonb_populate_record(null::callers_version, $1)',
        [before!.row],
      );
      expect([round, await version()]).toEqual([round, seen[0]]);
    }
    expect(new Set(seen).size).toBe(3);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a key is made', () => createApiKey(store.database, TEST_ACTOR, caller.applicationId)],
    ['a key is used', () => recordKeyUsage(store.database, [hashApiKey(caller.key)])],
    ['a send is created', () => createSend(store.database, newSend(caller))],
    ['credits are granted', () => grantCredits(store.database, TEST_ACTOR, caller.accountId, 1, 'paid')],
    [
      'an application is renamed',
      () => renameApplication(store.database, TEST_ACTOR, caller.accountId, caller.applicationId, 'new'),
    ],
    [
      'an application’s limits change',
      () => limitApplication(store.database, TEST_ACTOR, caller.applicationId, { perMinute: 5 }),
    ],
  ])('stays when %s', async (_, change) => {
    expect(await changed(change)).toBe(false);
  });

  it('changes with the commit, and not when the change is taken back', async () => {
    const before = await version();
    const change = (rollBack: boolean) =>
      store.database.transaction(async (connection) => {
        await connection.sql.execute`update api_keys set revoked_at = now() where id = ${caller.keyId}::uuid`;
        expect(await version()).toBe(before);
        if (rollBack) throw new Error('rolled back');
      });
    await expect(change(true)).rejects.toThrow('rolled back');
    expect(await version()).toBe(before);
    await change(false);
    expect(await version()).not.toBe(before);
  });
});
