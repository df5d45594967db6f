import { setImmediate as endOfTurn } from 'node:timers/promises';
import { hashApiKey } from '@onecode/domain';
import { closeDatabase, openDatabase, revokeApiKey, suspendAccount, type Database } from '@onecode/store';
import { buildCaller, TEST_ACTOR, type TestCaller } from '@onecode/store/testing';
import { startTcpProxy } from '../../../test/harness/tcpProxy.js';
import { useTestDatabase } from '../../../test/harness/testDatabase.js';
import { until } from '../../../test/harness/until.js';
import { rememberCallers, type CallerOf } from '../src/callers.js';

const KEYS = 100;

const store = useTestDatabase();
let callerOf: CallerOf;
beforeEach(() => {
  callerOf = rememberCallers(store.database);
});

const hashOf = ({ key }: TestCaller): string => hashApiKey(key).toString('latin1');
const build = (): Promise<TestCaller> => buildCaller(store.database, 'test');
const revoke = ({ keyId }: TestCaller): Promise<unknown> => revokeApiKey(store.database, TEST_ACTOR, keyId);

/** Revokes a key so that nobody is told. */
async function revokeInSecret({ keyId }: TestCaller): Promise<void> {
  await store.sql('alter table api_keys disable trigger keys_raise_callers_version');
  await store.sql('update api_keys set revoked_at = now() where id = $1', [keyId]);
  await store.sql('alter table api_keys enable trigger keys_raise_callers_version');
}

/** Asks for a caller all the time for so long. @returns whether there was one each time */
async function isThereFor(ms: number, hash: string): Promise<boolean> {
  const begin = performance.now();
  let isThere = true;
  await until('the end of the time', async () => {
    isThere &&= (await callerOf(hash)) !== undefined;
    return performance.now() - begin > ms;
  });
  return isThere;
}

describe('a caller', () => {
  it('is remembered beyond a second, until some key changes', async () => {
    const [caller, other] = [await build(), await build()];
    expect(await callerOf(hashOf(caller))).toEqual({
      applicationId: caller.applicationId,
      accountId: caller.accountId,
      mode: 'test',
    });
    await revokeInSecret(caller);
    expect(await isThereFor(2_000, hashOf(caller))).toBe(true);
    await revoke(other);
    expect(await isThereFor(1_000, hashOf(caller))).toBe(false);
    expect(await callerOf(hashOf(caller))).toBeUndefined();
  });

  it('is remembered until some account is suspended', async () => {
    const [caller, other] = [await build(), await build()];
    await callerOf(hashOf(caller));
    await revokeInSecret(caller);
    expect(await isThereFor(1_000, hashOf(caller))).toBe(true);
    await suspendAccount(store.database, TEST_ACTOR, other.accountId, 'unpaid');
    expect(await isThereFor(1_000, hashOf(caller))).toBe(false);
  });

  it('whose key is revoked after a long time without requests is there no more for the first one', async () => {
    const caller = await build();
    const begin = performance.now();
    await callerOf(hashOf(caller));
    await until('the end of what is relied on', () => performance.now() - begin > 1_000);
    await revoke(caller);
    expect(await callerOf(hashOf(caller))).toBeUndefined();
  });

  it('is not remembered from a look-up that its key’s revocation overtook', async () => {
    const callers = await Promise.all(Array.from({ length: KEYS }, build));
    const revoked = Promise.all(callers.map(revoke));
    let asking = true;
    const askers = callers.map(async (caller) => {
      while (asking) {
        await callerOf(hashOf(caller));
        await endOfTurn();
      }
    });
    await revoked;
    const revokedAt = performance.now();
    await until('the end of what is relied on', () => performance.now() - revokedAt > 1_000);
    asking = false;
    await Promise.all(askers);
    const left = await Promise.all(callers.map((caller) => callerOf(hashOf(caller))));
    expect(left.filter((caller) => caller !== undefined)).toEqual([]);
  });
});

describe('while the database is away', () => {
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  let database: Database;
  beforeEach(async () => {
    proxy = await startTcpProxy(store.url);
    database = openDatabase(proxy.url, { connectionsMax: 2 });
    callerOf = rememberCallers(database);
  });
  afterEach(async () => {
    await closeDatabase(database);
    await proxy.close();
  });

  it('what is remembered is relied on for less than a second, and again once the database is back', async () => {
    const caller = await build();
    await callerOf(hashOf(caller));
    proxy.cut();
    const begin = performance.now();
    let latestAnswered = begin;
    await until('a failure', async () => {
      const asked = performance.now();
      const isAnswered = await callerOf(hashOf(caller)).then(
        () => true,
        () => false,
      );
      if (isAnswered) latestAnswered = asked;
      return !isAnswered;
    });
    expect(latestAnswered - begin).toBeLessThan(1_000);
    await proxy.open();
    await until('the caller', () => callerOf(hashOf(caller)).catch(() => null));
  });
});
