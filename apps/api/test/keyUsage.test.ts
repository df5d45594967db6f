import { hashApiKey } from '@onecode/domain';
import { closeDatabase, createApiKey, listApiKeys, openDatabase, revokeApiKey } from '@onecode/store';
import { buildCaller, startTcpProxy, TEST_ACTOR, until, type TestCaller } from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { createKeyUsageTracker } from '../src/keyUsage.js';
import { apiVariables, PHONE, startApi, bearer, type TestApi } from './testApi.js';
import { ApiProcess } from './apiProcess.js';

let api: TestApi;
let caller: TestCaller;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  caller = await buildCaller(api.db.database, 'test');
});
afterAll(() => api.close());

const usesOf = async ({ applicationId }: TestCaller): Promise<(Date | null)[]> =>
  (await listApiKeys(api.db.database, applicationId))!.map((key) => key.lastUsedAt);
const age = (seconds: number) =>
  api.db.sql('update api_keys set last_used_at = now() - make_interval(secs => $1) where id = $2', [
    seconds,
    caller.keyId,
  ]);

describe('the last use of a key', () => {
  it('is recorded for this key only, after the request rather than in it', async () => {
    await createApiKey(api.db.database, TEST_ACTOR, caller.applicationId);
    expect((await api.create(caller)).status).toBe(202);
    expect(await usesOf(caller)).toEqual([null, null]);
    await api.keyUsage.flush();
    expect(await usesOf(caller)).toEqual([expect.any(Date), null]);
  });

  it('comes from any operation, whatever its answer', async () => {
    expect((await api.create(caller, { to: 'nobody' })).status).toBe(422);
    await api.keyUsage.flush();
    expect(await usesOf(caller)).toEqual([expect.any(Date)]);
  });

  it('does not come from a request that was refused for its key', async () => {
    await revokeApiKey(api.db.database, TEST_ACTOR, caller.keyId);
    expect((await api.create(caller)).status).toBe(401);
    await api.keyUsage.flush();
    expect(await usesOf(caller)).toEqual([null]);
  });

  it('is written once a minute, however often the key is used', async () => {
    await api.create(caller);
    await api.keyUsage.flush();
    await age(3600);
    const [before] = await usesOf(caller);
    await api.create(caller);
    await api.keyUsage.flush();
    expect(await usesOf(caller)).toEqual([before]);
  });

  it.each([
    [30, false],
    [90, true],
  ])('that another process wrote %i seconds ago is written again: %s', async (seconds, isWritten) => {
    await age(seconds);
    const [before] = await usesOf(caller);
    await api.create(caller);
    await api.keyUsage.flush();
    const [after] = await usesOf(caller);
    expect(after!.getTime() > before!.getTime()).toBe(isWritten);
  });

  it('is kept while the database is down, and written when it is back', async () => {
    const proxy = await startTcpProxy(api.db.url);
    const database = openDatabase(proxy.url, { connectionsMax: 1 });
    const keyUsage = createKeyUsageTracker(database);
    keyUsage.record(hashApiKey(caller.key).toString('latin1'));
    proxy.cut();
    await expect(keyUsage.flush()).rejects.toThrow();
    await proxy.open();
    await keyUsage.flush();
    expect(await usesOf(caller)).toEqual([expect.any(Date)]);
    await closeDatabase(database);
    await proxy.close();
  });

  it('is written by a running process from time to time, and when it stops', async () => {
    const other = await buildCaller(api.db.database, 'test');
    const started = ApiProcess.start({ ...apiVariables(api), LOG_LEVEL: 'info' });
    try {
      const { port } = await started.ready();
      const use = (one: TestCaller) =>
        rawRequest(port, 'POST', '/v1/send', Object.entries(bearer(one)), JSON.stringify({ to: PHONE }));
      expect((await use(caller)).status).toBe(202);
      await until('the use of a key', async () => (await usesOf(caller))[0]);
      expect((await use(other)).status).toBe(202);
      started.signal('SIGTERM');
      expect(await started.exited()).toBe(0);
      expect(await usesOf(other)).toEqual([expect.any(Date)]);
    } finally {
      await started.end();
    }
  });
});
