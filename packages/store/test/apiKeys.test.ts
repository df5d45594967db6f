import { apiKeyHint, hashApiKey, isApiKey } from '@onecode/domain';
import { createApiKey, findCaller, listApiKeys, newId, revokeApiKey } from '@onecode/store';
import { buildCaller, TEST_ACTOR } from '@onecode/store/testing';
import { useTestDatabase } from '../../../test/harness/testDatabase.js';

const store = useTestDatabase();

const callerOf = (key: string) => findCaller(store.database, hashApiKey(key));

describe('an API key', () => {
  it.each(['test', 'live'] as const)('of a %s application speaks for it', async (mode) => {
    const { applicationId, accountId, key } = await buildCaller(store.database, mode);
    expect(isApiKey(key)).toBe(true);
    expect(key).toMatch(new RegExp(`^ak_${mode}_`));
    expect(await callerOf(key)).toEqual({ applicationId, accountId, mode });
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
    expect(await callerOf(key)).toBeNull();
    expect(await callerOf(other.key)).not.toBeNull();
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
