import { findAccount, newId, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';
import { accepted, CODE, sendActions, workerActions } from './sendActions.js';

const store = useTestDatabase();
let sender: Sender;
beforeAll(async () => {
  sender = await buildSender(store.database);
});

const { read, returnedOf, verify, fail } = sendActions(store);
const { claimSend, settleSend } = workerActions(store, () => sender);

describe('a refund', () => {
  it('is made once by 50 failures at once', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 3 });
    const id = await buildSend(store.database, caller);
    const results = await Promise.all(Array.from({ length: 50 }, () => fail(id)));
    expect(results.filter((result) => result === 'failed now')).toHaveLength(1);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 3 });
  });

  it('is not made for any other change, nor for a change of a failed send', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller, { code: CODE });
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.kept'));
    await verify(caller, id, '999999');
    expect(await returnedOf(id)).toEqual([]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
    await fail(id);
    await verify(caller, id, CODE);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await read(caller, id)).toMatchObject({ status: 'failed', verification: 'verified' });
  });

  it('and its failure are written together or not at all', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller);
    await store.sql(
      `insert into ledger_entries (account_id, send_id, kind, bucket, units) values ($1, $2, 'returned', 'free_quota', 1)`,
      [caller.accountId, id],
    );
    await expect(fail(id)).rejects.toThrow();
    expect(await read(caller, id)).toMatchObject({ status: 'queued', failedAt: null });
    expect((await read(caller, id)).sealedCode).not.toBeNull();
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
  });
});
