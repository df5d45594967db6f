import { setImmediate as endOfTurn } from 'node:timers/promises';
import { hashApiKey } from '@onecode/domain';
import { resumeAccount, revokeApiKey, suspendAccount, type Caller } from '@onecode/store/accounts';
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
import { createCallerCache, type CallerCache } from '../src/callers.js';

const KEYS = 50;

const store = useTestDatabase();
const clock = useClock();
let callers: CallerCache;
beforeEach(() => {
  callers = createCallerCache(store.database);
});

const callerOf = (hash: string): ReturnType<CallerCache['find']> => callers.find(hash);

const isValid = (found: Awaited<ReturnType<CallerCache['find']>>): boolean =>
  found !== undefined && !('refusal' in found);
const REVOKED = expect.objectContaining({ refusal: 'revoked' }) as unknown;

const hashOf = ({ key }: TestCaller): string => hashApiKey(key).toString('latin1');
const build = (): Promise<TestCaller> => buildCaller(store.database, 'test');
const revoke = ({ keyId }: TestCaller): Promise<unknown> => revokeApiKey(store.database, TEST_ACTOR, keyId);

/** Revokes a key without raising the callers' version. */
async function revokeUnannounced({ keyId }: TestCaller): Promise<void> {
  await store.sql('alter table api_keys disable trigger keys_raise_callers_version');
  await store.sql('update api_keys set revoked_at = now() where id = $1', [keyId]);
  await store.sql('alter table api_keys enable trigger keys_raise_callers_version');
}

/** Looks a caller up ten times a second for so long. @returns whether it was found each time */
async function isThereFor(ms: number, hash: string): Promise<boolean> {
  let isThere = true;
  for (let passed = 0; passed <= ms; passed += 100) {
    clock.advance(100);
    isThere &&= isValid(await callerOf(hash));
  }
  return isThere;
}

describe('a caller', () => {
  it.each([
    ['key changes', revoke],
    [
      'account is suspended',
      ({ accountId }: TestCaller) => suspendAccount(store.database, TEST_ACTOR, accountId, 'unpaid'),
    ],
  ])('is remembered for more than a second, until some %s', async (_, changeOther) => {
    const [caller, other] = [await build(), await build()];
    expect(await callerOf(hashOf(caller))).toEqual({
      keyId: caller.keyId,
      applicationId: caller.applicationId,
      accountId: caller.accountId,
      mode: 'test',
    });
    await revokeUnannounced(caller);
    expect(await isThereFor(2_000, hashOf(caller))).toBe(true);
    await changeOther(other);
    expect(await isThereFor(1_000, hashOf(caller))).toBe(false);
    expect(await callerOf(hashOf(caller))).toEqual(REVOKED);
  });

  it('whose key was revoked during a long time without requests is refused at the first request', async () => {
    const caller = await build();
    await callerOf(hashOf(caller));
    clock.advance(1_000);
    await revoke(caller);
    expect(await callerOf(hashOf(caller))).toEqual(REVOKED);
  });

  it('holds until its key is revoked, as far as is known without asking', async () => {
    const [caller, other] = [await build(), await build()];
    const judged = (await callerOf(hashOf(caller))) as Caller;
    expect(callers.isCurrent(hashOf(caller), judged)).toBe(true);
    await revoke(other);
    clock.advance(1_000);
    expect(callers.isCurrent(hashOf(caller), judged)).toBe(false);
    // After another look-up the same caller is checked again.
    expect(await callerOf(hashOf(caller))).toEqual(judged);
    expect(callers.isCurrent(hashOf(caller), judged)).toBe(false);
  });

  it('of a suspended account is distinguished from one with a revoked key, and works again once the account is resumed', async () => {
    const [caller, other] = [await build(), await build()];
    await suspendAccount(store.database, TEST_ACTOR, caller.accountId, 'unpaid');
    await revoke(other);
    expect(await callerOf(hashOf(caller))).toMatchObject({ refusal: 'suspended' });
    expect(await callerOf(hashOf(other))).toEqual(REVOKED);
    await resumeAccount(store.database, TEST_ACTOR, caller.accountId);
    expect(await callerOf(hashOf(caller))).toMatchObject({ accountId: caller.accountId });
  });

  it('is not remembered from a look-up that began before its key was revoked', async () => {
    const many = await Promise.all(Array.from({ length: KEYS }, build));
    let asking = true;
    const askers = many.map(async (caller) => {
      while (asking) {
        await callerOf(hashOf(caller));
        await endOfTurn();
      }
    });
    try {
      await Promise.all(many.map(revoke));
    } finally {
      asking = false;
      await Promise.all(askers);
    }
    clock.advance(1_000);
    const left = await Promise.all(many.map((caller) => callerOf(hashOf(caller))));
    expect(left.filter(isValid)).toEqual([]);
  });
});

describe('while answers come late', () => {
  /** The database, with answers about the callers' version that arrive when the test releases them. */
  function withHeldAnswers(): { database: Database; held: (() => void)[]; hold: (isHeld: boolean) => void } {
    const held: (() => void)[] = [];
    let isHeld = false;
    const read: Database['sql']['read'] = async <Rows>(
      statement: Parameters<Database['sql']['read']>[0],
      ...values: unknown[]
    ) => {
      const answer = await store.database.sql.query<Rows>(statement, ...values);
      if (isHeld && Array.isArray(statement) && statement.join().includes('callers_version'))
        await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    };
    const database: Database = { ...store.database, sql: { ...store.database.sql, read } };
    return { database, held, hold: (is) => (isHeld = is) };
  }

  /** A caller whose key is revoked after a question about its version and, some time later, before another one. */
  async function twoQuestions(msBetween: number) {
    const { database, held, hold } = withHeldAnswers();
    callers = createCallerCache(database);
    const caller = await build();
    const find = () => callerOf(hashOf(caller));
    await find();
    clock.advance(950);
    hold(true);
    const first = find();
    await until('the question', () => held.length === 1);
    await revoke(caller);
    clock.advance(msBetween);
    const second = find();
    await until('its own question', () => held.length === 2);
    hold(false);
    return { first, second, find, held };
  }

  it('one to a question from before a revocation does not admit the key a second later', async () => {
    const { first, second, held } = await twoQuestions(1_000);
    for (const answer of held) answer();
    expect(await Promise.all([first, second])).toEqual([REVOKED, REVOKED]);
  });

  it('one that a later answer has overtaken is ignored', async () => {
    const { first, second, find, held } = await twoQuestions(250);
    held[1]!();
    expect(await second).toEqual(REVOKED);
    held[0]!();
    expect(await first).toEqual(REVOKED);
    expect(await find()).toEqual(REVOKED);
  });
});

describe('while the database is down', () => {
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  let database: Database;
  beforeEach(async () => {
    proxy = await startTcpProxy(store.url);
    database = openDatabase(proxy.url, { connectionsMax: 2 });
    callers = createCallerCache(database);
  });
  afterEach(async () => {
    await closeDatabase(database);
    await proxy.close();
  });

  it('remembered callers are accepted for less than a second, and again once the database is back', async () => {
    const caller = await build();
    await callerOf(hashOf(caller));
    proxy.cut();
    const isAnswered = () =>
      callerOf(hashOf(caller)).then(
        () => true,
        () => false,
      );
    expect(await isAnswered()).toBe(true);
    clock.advance(1_000);
    expect(await isAnswered()).toBe(false);
    await proxy.open();
    await until('the caller', () => callerOf(hashOf(caller)).catch(() => null));
  });
});
