import type { IncomingMessage } from 'node:http';
import { hashApiKey, type Problem } from '@onecode/domain';
import { revokeApiKey, setSuspension } from '@onecode/store/accounts';
import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';
import {
  buildCaller,
  startTcpProxy,
  TEST_ACTOR,
  until,
  useClock,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { createAuthenticator, type Authenticator } from '../src/auth.js';

const store = useTestDatabase();
const clock = useClock();
let authenticator: Authenticator;
beforeEach(() => {
  authenticator = createAuthenticator(store.database);
});

const build = (): Promise<TestCaller> => buildCaller(store.database, 'test');
const find = ({ key }: TestCaller, isCheckedAgain?: boolean) =>
  authenticator.authenticate(
    { headers: { authorization: `Bearer ${key}` } } as IncomingMessage,
    isCheckedAgain,
  );
/** Returns the detail of a refusal, or else its code. */
const refusalOf = async (caller: TestCaller, isCheckedAgain?: boolean): Promise<unknown> =>
  find(caller, isCheckedAgain).catch(({ code, details }: Problem) => details.detail ?? code);

/** Advances the clock, and waits a millisecond because the cache reads the clock once a millisecond. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await new Promise((resolve) => setTimeout(resolve, 2));
}
const passSecond = (): Promise<void> => pass(1_000);

describe('authenticate', () => {
  it.each([
    [
      'revoked',
      'The API key is not valid.',
      ({ keyId }: TestCaller) => revokeApiKey(store.database, TEST_ACTOR, keyId),
    ],
    [
      'expired',
      'This key has expired.',
      ({ keyId }: TestCaller) =>
        store.sql(`update api_keys set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [
          keyId,
        ]),
    ],
    [
      'suspended',
      'The account of this key is suspended.',
      ({ accountId }: TestCaller) => setSuspension(store.database, TEST_ACTOR, accountId, 'unpaid'),
    ],
  ] as const)('uses a cached caller for at most a second after it was %s', async (_, refusal, change) => {
    const caller = await build();
    const { keyId, applicationId, accountId } = caller;
    const expected = { keyId, applicationId, accountId, mode: 'test' };
    expect(await find(caller)).toMatchObject(expected);
    await change(caller);
    expect(await find(caller)).toMatchObject(expected);
    await passSecond();
    expect(await refusalOf(caller)).toBe(refusal);
  });

  it('returns a caller that was valid minutes ago, if the key is checked again, until a look-up finds it revoked', async () => {
    const caller = await build();
    await find(caller);
    await revokeApiKey(store.database, TEST_ACTOR, caller.keyId);
    await pass(5 * 60_000);
    expect(await find(caller, true)).toMatchObject({ keyId: caller.keyId });
    expect(await refusalOf(caller)).toBe('The API key is not valid.');
    expect(await refusalOf(caller, true)).toBe('The API key is not valid.');
  });

  it('looks a suspended account up again, even if the key is checked again', async () => {
    const caller = await build();
    await setSuspension(store.database, TEST_ACTOR, caller.accountId, 'unpaid');
    expect(await refusalOf(caller, true)).toContain('suspended');
    await setSuspension(store.database, TEST_ACTOR, caller.accountId, null);
    await passSecond();
    expect(await find(caller, true)).toMatchObject({ keyId: caller.keyId });
  });

  it('accepts the keys of a resumed account within a second', async () => {
    const caller = await build();
    await setSuspension(store.database, TEST_ACTOR, caller.accountId, 'unpaid');
    expect(await refusalOf(caller)).toContain('suspended');
    await setSuspension(store.database, TEST_ACTOR, caller.accountId, null);
    await passSecond();
    expect(await find(caller)).toMatchObject({ accountId: caller.accountId });
  });

  it('forgets a key that was deleted', async () => {
    const caller = await build();
    await find(caller);
    await store.sql('delete from api_keys where id = $1', [caller.keyId]);
    await passSecond();
    expect(await find(caller, true)).toMatchObject({ keyId: caller.keyId });
    expect(await refusalOf(caller)).toBe('invalid_api_key');
    expect(await refusalOf(caller, true)).toBe('invalid_api_key');
  });

  it('does not cache unknown keys', async () => {
    const caller = await build();
    await store.sql('update api_keys set hash = sha256(hash) where id = $1', [caller.keyId]);
    expect(await refusalOf(caller)).toBe('invalid_api_key');
    await store.sql('update api_keys set hash = $1 where id = $2', [hashApiKey(caller.key), caller.keyId]);
    expect(await find(caller)).toMatchObject({ keyId: caller.keyId });
  });

  it('accepts a cached caller for at most a second while the database is unavailable, and accepts it again afterwards', async () => {
    const proxy = await startTcpProxy(store.url);
    const database: Database = openDatabase(proxy.url, { connectionsMax: 2 });
    authenticator = createAuthenticator(database);
    const caller = await build();
    await find(caller);
    proxy.cut();
    expect(await find(caller)).toMatchObject({ keyId: caller.keyId });
    await passSecond();
    await expect(find(caller)).rejects.toThrow();
    await proxy.open();
    await until('the caller', () => find(caller).catch(() => null));
    await closeDatabase(database);
    await proxy.close();
  });
});
