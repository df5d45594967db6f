import { apiKeyHint, hashApiKey, isApiKey } from '@onecode/domain';
import {
  createApiKey,
  createSend,
  findCaller,
  grantCredits,
  limitApplication,
  listApiKeys,
  newId,
  readCallersVersion,
  recordKeyUsage,
  renameApplication,
  resumeAccount,
  revokeApiKey,
  suspendAccount,
} from '@onecode/store';
import { buildCaller, newSend, TEST_ACTOR, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();

const callerOf = (key: string) => findCaller(store.database, hashApiKey(key));

describe('an API key', () => {
  it.each(['test', 'live'] as const)('of a %s application speaks for it', async (mode) => {
    const { keyId, applicationId, accountId, key } = await buildCaller(store.database, mode);
    expect(isApiKey(key)).toBe(true);
    expect(key).toMatch(new RegExp(`^ak_${mode}_`));
    expect(await callerOf(key)).toEqual({ keyId, applicationId, accountId, mode });
  });

  it('is nowhere in the database, its SHA-256 and its hint are', async () => {
    const { key, keyId } = await buildCaller(store.database, 'live');
    const [row] = await store.sql<{ hash: Buffer; hint: string }>('select * from api_keys where id = $1', [
      keyId,
    ]);
    expect(row).toMatchObject({ hash: hashApiKey(key), hint: apiKeyHint(key) });
    expect(JSON.stringify({ ...row, hash: row!.hash.toString('latin1') })).not.toContain(key.slice(8, 35));
  });

  it('that was never made speaks for nobody', async () => {
    const { key } = await buildCaller(store.database, 'live');
    expect(await callerOf(`${key}x`)).toBeNull();
    expect(await findCaller(store.database, new Uint8Array(32))).toBeNull();
    expect(await findCaller(store.database, new Uint8Array(0))).toBeNull();
  });

  it('speaks for nobody from the moment it is revoked, and the others still do', async () => {
    const { applicationId, key, keyId } = await buildCaller(store.database, 'live');
    const other = (await createApiKey(store.database, TEST_ACTOR, applicationId))!;
    const revoked = await revokeApiKey(store.database, TEST_ACTOR, keyId);
    expect(revoked).toMatchObject({ id: keyId, applicationId, mode: 'live', hint: apiKeyHint(key) });
    expect(revoked!.revokedAt).not.toBeNull();
    expect(await callerOf(key)).toMatchObject({ refusal: 'revoked', caller: { keyId, applicationId } });
    expect(await callerOf(other.key)).toMatchObject({ applicationId });
  });

  it('of a suspended account speaks for nobody, and says why', async () => {
    const { accountId, key } = await buildCaller(store.database, 'live');
    await suspendAccount(store.database, TEST_ACTOR, accountId, 'unpaid');
    expect(await callerOf(key)).toMatchObject({ refusal: 'suspended', caller: { accountId } });
  });

  it('has the name that it was given, or none', async () => {
    const { applicationId } = await buildCaller(store.database, 'live');
    await createApiKey(store.database, TEST_ACTOR, applicationId, 'Checkout');
    const listed = (await listApiKeys(store.database, applicationId))!;
    expect(listed.map(({ name }) => name)).toEqual([null, 'Checkout']);
  });

  it('keeps the time of its first revocation', async () => {
    const { keyId } = await buildCaller(store.database, 'live');
    await revokeApiKey(store.database, TEST_ACTOR, keyId);
    await store.sql(`update api_keys set revoked_at = '2026-01-01T00:00:00Z' where id = $1`, [keyId]);
    expect((await revokeApiKey(store.database, TEST_ACTOR, keyId))!.revokedAt).toEqual(
      new Date('2026-01-01T00:00:00Z'),
    );
  });

  it('is not made for an application that is not there, nor revoked when it is not there', async () => {
    expect(await createApiKey(store.database, TEST_ACTOR, newId())).toBeNull();
    expect(await revokeApiKey(store.database, TEST_ACTOR, newId())).toBeNull();
    expect(await listApiKeys(store.database, newId())).toBeNull();
  });

  it('is listed without itself, oldest first, revoked ones too, each with its application only', async () => {
    const { applicationId, key, keyId } = await buildCaller(store.database, 'test');
    await buildCaller(store.database, 'test');
    const second = (await createApiKey(store.database, TEST_ACTOR, applicationId))!;
    await revokeApiKey(store.database, TEST_ACTOR, keyId);
    const listed = (await listApiKeys(store.database, applicationId))!;
    expect(listed).toMatchObject([
      { id: keyId, applicationId, mode: 'test', hint: apiKeyHint(key) },
      { id: second.id, applicationId, mode: 'test', hint: apiKeyHint(second.key), revokedAt: null },
    ]);
    expect(listed[0]!.revokedAt).not.toBeNull();
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(JSON.stringify(listed)).not.toContain(second.key);
  });
});

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
