import type { Denial } from '@onecode/domain';
import { deleteUnmatchedDenials, matchDueDenials, newId, storeDenials } from '@onecode/store';
import { buildCaller, buildSend, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
let caller: TestCaller;
beforeEach(async () => {
  await store.sql('truncate denials');
  caller = await buildCaller(store.database, 'live', { credits: 10 });
});

const denial = (messageId: string): Denial => ({
  messageId,
  occurredAt: new Date('2026-03-01T12:00:00.000Z'),
});
const keep = (...messageIds: string[]) => storeDenials(store.database, messageIds.map(denial));
const match = () => matchDueDenials(store.database, 100);
const rows = () =>
  store.sql<{ message_id: string; send_id: string | null; tries: number; waits: boolean }>(
    'select message_id, send_id, tries, due_at is not null as waits from denials order by message_id',
  );
const makeDue = () =>
  store.sql("update denials set due_at = now() - interval '1 second' where due_at is not null");

/** A send whose message has this id. @returns the send's id */
async function sentMessage(messageId: string): Promise<string> {
  const sendId = await buildSend(store.database, caller);
  await store.sql(
    `insert into attempts (id, send_id, outcome, message_id, finished_at) values ($1, $2, 'accepted', $3, now())`,
    [newId(), sendId, messageId],
  );
  return sendId;
}

describe('a denial', () => {
  it('waits for a message that is not known yet', async () => {
    await keep('wamid.early');
    expect(await match()).toEqual({ matched: [], due: 1 });
    expect(await rows()).toEqual([{ message_id: 'wamid.early', send_id: null, tries: 1, waits: true }]);
    const sendId = await sentMessage('wamid.early');
    await makeDue();
    expect((await match()).matched).toHaveLength(1);
    expect(await rows()).toEqual([{ message_id: 'wamid.early', send_id: sendId, tries: 2, waits: false }]);
  });

  it('of nobody’s message is given up after ten tries, and deleted after its time', async () => {
    await sentMessage('wamid.known');
    await keep('wamid.foreign', 'wamid.known');
    for (let n = 0; n < 12; n += 1) {
      await match();
      await makeDue();
    }
    expect(await rows()).toMatchObject([
      { message_id: 'wamid.foreign', send_id: null, tries: 10, waits: false },
      { message_id: 'wamid.known', tries: 1, waits: false },
    ]);
    expect(await deleteUnmatchedDenials(store.database, 8, 100)).toBe(0);
    await store.sql("update denials set received_at = received_at - interval '9 days'");
    expect(await deleteUnmatchedDenials(store.database, 8, 100)).toBe(1);
    expect((await rows()).map(({ message_id }) => message_id)).toEqual(['wamid.known']);
  });

  it('goes to one of many that match at the same time', async () => {
    await sentMessage('wamid.contested');
    await keep('wamid.contested');
    const all = await Promise.all(Array.from({ length: 8 }, match));
    expect(all.flatMap(({ matched }) => matched)).toHaveLength(1);
  });
});
