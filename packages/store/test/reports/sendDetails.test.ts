import { findSendDetails, newId, storeReceipts, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { accepted, CODE, sendActions, workerActions } from '../sends/sendActions.js';

const PHONE = '+5511987654321';

const store = useTestDatabase();
let caller: TestCaller;
let sender: Sender;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 100 });
  sender = await buildSender(store.database);
});

const { verify, fail } = sendActions(store);
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

  it('have each attempt with its sender, outcome and code, oldest first', async () => {
    const id = await buildSend(store.database, caller);
    const [first, second, third] = [newId(), newId(), newId()];
    await claimSend(id, first);
    await settleSend(id, first, {
      kind: 'retry',
      errorCode: 131000,
      reason: 'again',
      throttled: 'none',
      retryAfterSeconds: null,
    });
    await store.sql('update sends set due_at = now() where id = $1', [id]);
    await claimSend(id, second);
    await settleSend(id, second, accepted('wamid.details.2'));
    await store.sql(`insert into attempts (id, send_id) values ($1, $2)`, [third, id]);
    const attempts = (await detailsOf(id))!.attempts;
    expect(attempts).toEqual([
      {
        startedAt: aDate,
        id: expect.any(String),
        finishedAt: aDate,
        outcome: 'retry',
        errorCode: 131000,
        senderNumber: sender.number,
      },
      {
        startedAt: aDate,
        id: expect.any(String),
        finishedAt: aDate,
        outcome: 'accepted',
        errorCode: null,
        senderNumber: sender.number,
      },
      {
        id: expect.any(String),
        startedAt: aDate,
        finishedAt: null,
        outcome: null,
        errorCode: null,
        senderNumber: null,
      },
    ]);
    const times = attempts.map(({ startedAt }) => startedAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect((await detailsOf(id))!.attemptsCounted).toBe(2);
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

  it('have the time of every wrong guess and of the right one, in their order', async () => {
    const id = await buildSend(store.database, caller);
    for (const guess of ['000001', '000002', CODE, '000003']) await verify(caller, id, guess);
    const { createdAt, wrongGuesses, wrongGuessTimes, verifiedAt, verification } = (await detailsOf(id))!;
    expect([wrongGuesses, wrongGuessTimes, verification]).toEqual([2, [aDate, aDate], 'verified']);
    const times = [createdAt, ...wrongGuessTimes, verifiedAt!].map((time) => time.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('have five times of wrong guesses at the most, however many come at once', async () => {
    const id = await buildSend(store.database, caller);
    await Promise.all(Array.from({ length: 20 }, () => verify(caller, id, '000001')));
    const details = (await detailsOf(id))!;
    expect([details.wrongGuesses, details.wrongGuessTimes.length, details.verification]).toEqual([
      5,
      5,
      'locked',
    ]);
  });

  it('have the unit that was reserved, and that it was returned after a failure', async () => {
    const id = await buildSend(store.database, caller);
    await fail(id);
    const details = (await detailsOf(id))!;
    expect(details).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
      failedAt: aDate,
    });
    expect(details.units).toEqual([
      { kind: 'reserved', bucket: 'credit', at: aDate },
      { kind: 'returned', bucket: 'credit', at: aDate },
    ]);
  });

  it('tell a pending code whose deadline has come as expired, and keep past times of a sent one', async () => {
    const id = await buildSend(store.database, caller);
    await store.sql(
      `update sends set created_at = now() - interval '1 hour', expires_at = now() where id = $1`,
      [id],
    );
    expect((await detailsOf(id))!.verification).toBe('expired');
  });

  it('are those of a send of this account only', async () => {
    const id = await buildSend(store.database, caller);
    const stranger = await buildCaller(store.database, 'live');
    expect(await detailsOf(id, stranger)).toBeNull();
    expect(await detailsOf(newId())).toBeNull();
  });

  it('hold no whole recipient, no code in any form and no message id', async () => {
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.leaked'));
    const details = (await detailsOf(id))!;
    const [row] = await store.sql<{ code_hash: Buffer }>('select code_hash from sends where id = $1', [id]);
    const text = JSON.stringify(details);
    for (const secret of [PHONE, PHONE.slice(3), 'wamid', CODE, row!.code_hash.toString('hex')])
      expect(text).not.toContain(secret);
    expect(Object.values(details).filter((value) => value instanceof Uint8Array)).toEqual([]);
  });
});
