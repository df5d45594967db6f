import type { Decision, ReportedAttempt, Send } from '@onecode/domain';
import { changeReportedSend, newId, type WhichReport } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
let caller: TestCaller;
let senderId: string;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  senderId = (await buildSender(store.database)).id;
});

interface Row {
  outcome?: string | null;
  messageId?: string | null;
  startedAt?: string;
}

/** Puts an attempt of a send into the table. @returns its id */
async function attempt(sendId: string, { outcome = 'accepted', messageId, startedAt }: Row = {}) {
  const id = newId();
  await store.sql(
    `insert into attempts (id, send_id, sender_id, outcome, message_id, started_at, finished_at)
     values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), case when $4::text is not null then now() end)`,
    [id, sendId, senderId, outcome, messageId ?? null, startedAt ?? null],
  );
  return id;
}

const isUnderWay = (sendId: string, attemptId: string) =>
  store.sql('update sends set attempt_id = $2 where id = $1', [sendId, attemptId]);

/** What a receipt would be decided on, or null. */
async function reported(which: Partial<WhichReport>) {
  let seen: { sendId: string; attempt: ReportedAttempt } | null = null;
  const result = await changeReportedSend(
    store.database,
    { attemptId: null, messageId: `wamid.unknown.${newId()}`, ...which },
    (send: Send, _now: Date, about): Decision<'decided'> => {
      seen = { sendId: send.id, attempt: about };
      return { result: 'decided' };
    },
  );
  expect(result?.result).toBe(seen === null ? undefined : 'decided');
  return seen as { sendId: string; attempt: ReportedAttempt } | null;
}

describe('the send that a receipt reports on', () => {
  it('is found by our attempt’s id, before the message id is known', async () => {
    const sendId = await buildSend(store.database, caller);
    const id = await attempt(sendId, { outcome: null });
    expect(await reported({ attemptId: id })).toEqual({
      sendId,
      attempt: {
        id,
        senderId,
        startedAt: expect.any(Date),
        outcome: null,
        otherIsAccepted: false,
        otherClaimedAt: null,
      },
    });
  });

  it('is found by the message id when the attempt’s id did not come back', async () => {
    const sendId = await buildSend(store.database, caller);
    const id = await attempt(sendId, { messageId: `wamid.${sendId}` });
    expect(await reported({ messageId: `wamid.${sendId}` })).toMatchObject({ sendId, attempt: { id } });
  });

  it('is found by the message id when the attempt’s id is not one of ours', async () => {
    const sendId = await buildSend(store.database, caller);
    await attempt(sendId, { messageId: `wamid.${sendId}` });
    expect(await reported({ attemptId: newId(), messageId: `wamid.${sendId}` })).toMatchObject({ sendId });
  });

  it('is the attempt’s when attempt and message speak of different sends', async () => {
    const [one, two] = [await buildSend(store.database, caller), await buildSend(store.database, caller)];
    const id = await attempt(one);
    await attempt(two, { messageId: `wamid.${two}` });
    expect(await reported({ attemptId: id, messageId: `wamid.${two}` })).toMatchObject({ sendId: one });
  });

  it('is that of the earliest attempt when a message id stands twice', async () => {
    const sendId = await buildSend(store.database, caller);
    const messageId = `wamid.${sendId}`;
    await attempt(sendId, { messageId, startedAt: '2026-01-02T00:00:00Z' });
    const first = await attempt(sendId, { messageId, startedAt: '2026-01-01T00:00:00Z' });
    expect(await reported({ messageId })).toMatchObject({ attempt: { id: first } });
  });

  it('is nobody’s when neither is known', async () => {
    expect(await reported({})).toBeNull();
    expect(await reported({ attemptId: newId() })).toBeNull();
  });
});

describe('whether another message of the send may still arrive', () => {
  it.each([
    ['accepted', true],
    ['retry', false],
    ['unknown', false],
    ['sender', false],
    ['recipient', false],
    ['config', false],
    [null, false],
  ])('is told by another attempt: %s → %s', async (outcome, otherIsAccepted) => {
    const sendId = await buildSend(store.database, caller);
    await attempt(sendId, { outcome });
    const id = await attempt(sendId);
    expect(await reported({ attemptId: id })).toMatchObject({
      attempt: { id, otherIsAccepted, otherClaimedAt: null },
    });
  });

  it('is open while another attempt is under way', async () => {
    const sendId = await buildSend(store.database, caller);
    const id = await attempt(sendId, { outcome: 'unknown' });
    await isUnderWay(sendId, await attempt(sendId, { outcome: null }));
    expect(await reported({ attemptId: id })).toMatchObject({
      attempt: { otherIsAccepted: false, otherClaimedAt: expect.any(Date) },
    });
  });

  it('is not told by the attempt itself, nor by another send’s', async () => {
    const sendId = await buildSend(store.database, caller);
    const id = await attempt(sendId);
    await isUnderWay(sendId, id);
    await attempt(await buildSend(store.database, caller));
    expect(await reported({ attemptId: id })).toMatchObject({
      attempt: { otherIsAccepted: false, otherClaimedAt: null },
    });
  });
});
