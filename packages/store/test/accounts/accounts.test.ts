import {
  closeDatabase,
  createAccount,
  findAccount,
  grantCredits,
  newId,
  openDatabase,
  type NewAccount,
} from '@onecode/store';
import { startTcpProxy, TEST_ACTOR, until, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

const ledgerOf = (accountId: string) =>
  store.sql('select kind, bucket, units, reason from ledger_entries where account_id = $1 order by id', [
    accountId,
  ]);
const make = (fields: Partial<NewAccount> = {}) =>
  createAccount(store.database, TEST_ACTOR, {
    name: 'Ana',
    language: 'en',
    freeQuota: null,
    credits: 0,
    ratePerMinute: null,
    ...fields,
  });

describe('an account', () => {
  it('that the table refuses leaves nothing in the ledger', async () => {
    const [before] = await store.sql('select count(*) from ledger_entries');
    await expect(make({ credits: -1 })).rejects.toThrow();
    await expect(make({ name: '' })).rejects.toThrow();
    expect((await store.sql('select count(*) from ledger_entries'))[0]).toEqual(before);
  });
});

describe('credits', () => {
  it('are lost by none of many grants at once', async () => {
    const { id } = await make({ freeQuota: 0 });
    await Promise.all(
      Array.from({ length: 30 }, () => grantCredits(store.database, TEST_ACTOR, id, 2, 'many')),
    );
    expect(await findAccount(store.database, id)).toMatchObject({ credits: 60 });
    expect(await ledgerOf(id)).toHaveLength(30);
  });

  it('keep the account locked for no longer than the database takes, however late its answers are read', async () => {
    const { id } = await make({ freeQuota: 0 });
    const proxy = await startTcpProxy(store.url);
    const far = openDatabase(proxy.url, { connectionsMax: 1 });
    const lock = await store.connect();
    try {
      await far.sql.query`select 1`;
      // The grant waits for the account; from then on no answer comes through.
      await lock.query('begin');
      await lock.query('select from accounts where id = $1 for no key update', [id]);
      const granted = grantCredits(far, TEST_ACTOR, id, 25, 'from afar');
      await until('the grant that waits', async () => (await store.countLockWaits()) === 1);
      proxy.freeze('replies');
      await lock.query('rollback');
      await until(
        'an account that is free, with its credits',
        async () => {
          const free = await store.sql<{ credits: number }>(
            'select credits from accounts where id = $1 for no key update skip locked',
            [id],
          );
          return free[0]?.credits === 25;
        },
        3_000,
      );
      await proxy.open();
      expect(await granted).toMatchObject({ credits: 25 });
    } finally {
      await lock.end();
      await proxy.close();
      await closeDatabase(far);
    }
  });

  it('are granted once by six requests at once with the same id, and all are told alike', async () => {
    const [{ id }, other] = [await make({ freeQuota: 0 }), await make({ freeQuota: 0 })];
    const grantId = newId();
    const grant = (account: string, amount: number, reason = 'once') =>
      grantCredits(store.database, TEST_ACTOR, account, amount, reason, grantId);
    const granted = await Promise.all(Array.from({ length: 6 }, () => grant(id, 5)));
    expect(granted.map((account) => account?.credits)).toEqual(Array(6).fill(5));
    const refused = { why: 'other_grant' };
    await expect(grant(id, 6)).rejects.toMatchObject(refused);
    await expect(grant(id, 5, 'twice')).rejects.toMatchObject(refused);
    await expect(grant(other.id, 5)).rejects.toMatchObject(refused);
    expect(await ledgerOf(id)).toHaveLength(1);
    expect(await ledgerOf(other.id)).toEqual([]);
    await expect(
      grantCredits(store.database, TEST_ACTOR, id, 2_000_000_000, 'too many'),
    ).rejects.toMatchObject({ why: 'too_many' });
  });

  it('of one id go to one of many accounts that are given them at once', async () => {
    const grantId = newId();
    const accounts = await Promise.all(Array.from({ length: 8 }, () => make({ freeQuota: 0 })));
    const outcomes = await Promise.allSettled(
      accounts.map(({ id }) => grantCredits(store.database, TEST_ACTOR, id, 5, 'one', grantId)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const entries = await Promise.all(accounts.map(({ id }) => ledgerOf(id)));
    expect(entries.flat()).toHaveLength(1);
  });
});
