import { findSendDetails, newId, storeReceipts, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { accepted, workerActions } from '../sends/sendActions.js';

const store = useTestDatabase();
let caller: TestCaller;
let sender: Sender;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 100 });
  sender = await buildSender(store.database);
});

const { claimSend, settleSend } = workerActions(store, () => sender);
const aDate: unknown = expect.any(Date);

describe('the details of a send', () => {
  it('have the receipts on its attempts and messages and on no others, with the provider’s code', async () => {
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.details.own'));
    const occurredAt = new Date('2026-03-01T12:00:00Z');
    const receipt = {
      messageId: 'wamid.details.own',
      attemptId,
      status: 'sent',
      occurredAt,
      failure: null,
    } as const;
    await storeReceipts(store.database, [receipt]);
    await storeReceipts(store.database, [
      {
        ...receipt,
        status: 'failed',
        failure: { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' },
      },
    ]);
    // The provider need not send our attempt's id along.
    await storeReceipts(store.database, [{ ...receipt, attemptId: null, status: 'delivered' }]);
    await storeReceipts(store.database, [
      { ...receipt, attemptId: newId(), messageId: 'wamid.details.other', status: 'read' },
      { ...receipt, attemptId: null, messageId: 'wamid.details.another', status: 'read' },
    ]);
    expect((await findSendDetails(store.database, caller.accountId, id))!.receipts).toEqual([
      { attemptId: expect.any(String), status: 'sent', occurredAt, receivedAt: aDate, errorCode: null },
      { attemptId: expect.any(String), status: 'failed', occurredAt, receivedAt: aDate, errorCode: 131026 },
      { attemptId: expect.any(String), status: 'delivered', occurredAt, receivedAt: aDate, errorCode: null },
    ]);
  });
});
