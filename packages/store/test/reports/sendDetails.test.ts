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
const detailsOf = (id: string, of = caller) => findSendDetails(store.database, of.accountId, id);
const aDate: unknown = expect.any(Date);
const REQUEST_ID = '7d3a5c1e-2b4f-4a6d-8e90-1c2b3a4d5e6f';
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the details of a send', () => {
  it('are those of its creation while nothing else has happened', async () => {
    const id = await buildSend(store.database, caller, {
      recipient: '+5511987654321',
      requestId: REQUEST_ID,
      traceparent: TRACEPARENT,
    });
    expect(await detailsOf(id)).toEqual({
      id,
      applicationId: caller.applicationId,
      applicationName: 'Test live',
      mode: 'live',
      status: 'queued',
      verification: 'pending',
      recipientMasked: '+55 ••••• 4321',
      country: 'BR',
      locale: 'pt-BR',
      channel: null,
      createdAt: aDate,
      expiresAt: aDate,
      failureReason: null,
      chargedFrom: 'free_quota',
      from: null,
      attemptsCounted: 0,
      awaitingSender: false,
      deniedAt: [],
      identityChangedAt: null,
      requestId: REQUEST_ID,
      traceparent: TRACEPARENT,
      dueAt: aDate,
      sentAt: null,
      deliveredAt: null,
      lostAt: null,
      readAt: null,
      verifiedAt: null,
      failedAt: null,
      wrongGuesses: 0,
      wrongGuessTimes: [],
      attempts: [],
      receipts: [],
      units: [{ kind: 'reserved', bucket: 'free_quota', at: aDate }],
    });
  });

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
    expect((await detailsOf(id))!.receipts).toEqual([
      { attemptId: expect.any(String), status: 'sent', occurredAt, receivedAt: aDate, errorCode: null },
      { attemptId: expect.any(String), status: 'failed', occurredAt, receivedAt: aDate, errorCode: 131026 },
      { attemptId: expect.any(String), status: 'delivered', occurredAt, receivedAt: aDate, errorCode: null },
    ]);
  });
});
