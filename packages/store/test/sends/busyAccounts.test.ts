import { AccountBusy, createSend, revokeApiKey, suspendAccount, type Creation } from '@onecode/store';
import { buildCaller, newSend, TEST_ACTOR, until, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
const unlimited = { freeQuota: 10_000, ratePerMinute: 100_000 };
const create = (caller: TestCaller): Promise<Creation> => createSend(store.database, newSend(caller));

/** Holds rows by a transaction that stays open until `release`. */
async function holding(statement: string, values: unknown[]): Promise<{ release: () => Promise<void> }> {
  const client = await store.connect();
  await client.query('begin');
  await client.query(statement, values);
  return {
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}

describe.each([
  ['account', 'select from accounts where id = $1 for update', (by: TestCaller) => by.accountId],
  ['application', 'select from applications where id = $1 for update', (by: TestCaller) => by.applicationId],
] as const)('while somebody holds the row of an %s', (_, statement, idOf) => {
  it('the creations of all others go on, and its own follow when the lock is released', async () => {
    const held = await buildCaller(store.database, 'live', unlimited);
    const others = await Promise.all([1, 2, 3].map(() => buildCaller(store.database, 'live', unlimited)));
    const hold = await holding(statement, [idOf(held)]);
    const own = [held, held, held].map(create);
    await until('its creations wait', async () => (await store.countLockWaits()) > 0);
    // All in one call with creations of the one that is held: none waits for it.
    for (let round = 0; round < 3; round++) {
      const mixed = await Promise.all(others.map(create));
      own.push(create(held));
      expect(mixed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
    }
    // Still held: had anybody waited for it, we would not be here.
    expect(await store.countLockWaits()).toBeGreaterThan(0);
    await hold.release();
    const made = await Promise.all(own);
    expect(new Set(made.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
  });

  it('its creations give up after some seconds, and leave nothing behind', async () => {
    const held = await buildCaller(store.database, 'live', unlimited);
    const hold = await holding(statement, [idOf(held)]);
    const ends = await Promise.allSettled(Array.from({ length: 60 }, () => create(held)));
    await hold.release();
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: expect.any(AccountBusy) });
    expect(await store.sql('select from sends where account_id = $1', [held.accountId])).toEqual([]);
    expect((await create(held)).outcome).toBe('created');
  });
});

it('more accounts that are held than calls may wait hold up nobody else', async () => {
  const held = await Promise.all(
    Array.from({ length: 8 }, () => buildCaller(store.database, 'live', unlimited)),
  );
  const other = await buildCaller(store.database, 'live', unlimited);
  const hold = await holding('select from accounts where id = any($1) for update', [
    held.map(({ accountId }) => accountId),
  ]);
  const own = held.map(create);
  await until('as many wait as may', async () => (await store.countLockWaits()) >= 4);
  expect((await create(other)).outcome).toBe('created');
  expect(await store.countLockWaits()).toBeLessThanOrEqual(4);
  await hold.release();
  expect(new Set((await Promise.all(own)).map(({ outcome }) => outcome))).toEqual(new Set(['created']));
});

describe('a creation that waited for its account', () => {
  it.each([
    [
      'its key was revoked',
      'revoked',
      (by: TestCaller) => revokeApiKey(store.database, TEST_ACTOR, by.keyId),
    ],
    [
      'its account was suspended',
      'suspended',
      (by: TestCaller) => suspendAccount(store.database, TEST_ACTOR, by.accountId, 'a test'),
    ],
  ] as const)('is refused when %s meanwhile', async (_, cause, change) => {
    const caller = await buildCaller(store.database, 'live', unlimited);
    const hold = await holding('select from applications where id = $1 for update', [caller.applicationId]);
    const waiting = create(caller);
    await until('it waits', async () => (await store.countLockWaits()) > 0);
    const changed = change(caller);
    const landed = await until('the change has landed, or waits too', async () => {
      const rows = await store.sql(
        `select from api_keys k join applications p on p.id = k.application_id join accounts a on a.id = p.account_id
         where k.id = $1 and (k.revoked_at is not null or a.suspended_at is not null)`,
        [caller.keyId],
      );
      return rows.length === 1 || ((await store.countLockWaits()) > 1 && 'waits');
    });
    await hold.release();
    await changed;
    const end = await waiting;
    // Whoever had the account's lock first: the change, and then the creation is refused, or the creation, before the change.
    expect(end).toEqual(landed === 'waits' ? expect.anything() : { outcome: 'key_refused', cause });
    expect(await create(caller)).toEqual({ outcome: 'key_refused', cause });
  });
});
