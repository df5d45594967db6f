import type { DeliveryState } from '@onecode/domain';
import { countDeliveryHours, readDeliveries } from '@onecode/store/reports';
import { buildCaller, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { insertSends, type PastSend } from './pastSends.js';

const store = useTestDatabase();
const HOUR_MS = 3_600_000;

let live: TestCaller;
let test: TestCaller;
let senderId: string;
beforeEach(async () => {
  await store.sql('truncate accounts, senders, attempts, delivery_hours cascade');
  await store.sql('update cursors set position = default');
  senderId = (await buildSender(store.database)).id;
  live = await buildCaller(store.database, 'live');
  test = await buildCaller(store.database, 'test', { id: live.accountId });
});

const insert = (hoursAgo: number, status: DeliveryState, more: Partial<PastSend> = {}): Promise<string[]> =>
  insertSends(store, [
    {
      caller: live,
      at: new Date(Date.now() - hoursAgo * HOUR_MS),
      recipient: '+5511987654321',
      locale: 'en',
      status,
      verification: 'pending',
      deliveryMs: 1_000,
      ...more,
    },
  ]);
/** Makes the counted hours this much older, as if the time had passed. */
const age = (hours: number) =>
  store.sql('update delivery_hours set hour = hour - make_interval(hours => $1)', [hours]);
const nextHour = () => store.sql('update cursors set position = default');

describe('countDeliveryHours', () => {
  it('counts live messages that were accepted, and those of them without a receipt or a correct code', async () => {
    for (const status of ['sent', 'delivered', 'read', 'failed', 'queued'] as const) await insert(2, status);
    await insert(2, 'sent', { verification: 'verified' });
    await insert(2, 'sent', { verification: 'locked' });
    await insert(2, 'read', { caller: test });
    // The code of this send has not expired.
    await insert(0, 'sent');
    await countDeliveryHours(store.database);
    expect(await readDeliveries(store.database)).toEqual([
      {
        country: 'BR',
        senderId,
        lastDay: { accepted: 5, undelivered: 2 },
        weekBefore: { accepted: 0, undelivered: 0 },
      },
    ]);
  });

  it('separates countries and senders', async () => {
    const { id: other } = await buildSender(store.database);
    const [toArgentina] = await insert(2, 'sent');
    const [fromOther] = await insert(3, 'read');
    await store.sql(`update sends set country = 'AR' where id = $1`, [toArgentina]);
    await store.sql('update sends set sender_id = $1 where id = $2', [other, fromOther]);
    await countDeliveryHours(store.database);
    expect(await readDeliveries(store.database)).toMatchObject([
      { country: 'AR', senderId, lastDay: { accepted: 1, undelivered: 1 } },
      { country: 'BR', senderId: other, lastDay: { accepted: 1, undelivered: 0 } },
    ]);
  });

  it('counts the last day again in the next hour, with receipts that arrived late', async () => {
    const [late] = await insert(20, 'sent');
    await countDeliveryHours(store.database);
    const undelivered = async () => (await readDeliveries(store.database))[0]?.lastDay.undelivered;
    expect(await undelivered()).toBe(1);
    await store.sql(`update sends set status = 'delivered', delivered_at = now() where id = $1`, [late]);
    await countDeliveryHours(store.database);
    expect(await undelivered()).toBe(1);
    await nextHour();
    await countDeliveryHours(store.database);
    expect(await undelivered()).toBe(0);
  });

  it('keeps the counts of the week before, even after the sends are deleted, and deletes older counts', async () => {
    await insert(2, 'sent');
    await countDeliveryHours(store.database);
    await store.sql('truncate sends cascade');
    await age(48);
    await nextHour();
    await countDeliveryHours(store.database);
    expect(await readDeliveries(store.database)).toMatchObject([
      { lastDay: { accepted: 0, undelivered: 0 }, weekBefore: { accepted: 1, undelivered: 1 } },
    ]);
    await age(7 * 24);
    await nextHour();
    await countDeliveryHours(store.database);
    expect(await store.sql('select from delivery_hours')).toEqual([]);
  });

  it('does nothing while another worker is counting', async () => {
    await insert(2, 'sent');
    await store.database.transaction(async ({ sql }) => {
      await sql.query`select from cursors where name = 'deliveries' for update`;
      await countDeliveryHours(store.database);
      expect(await readDeliveries(store.database)).toEqual([]);
    });
    await Promise.all([countDeliveryHours(store.database), countDeliveryHours(store.database)]);
    expect(await readDeliveries(store.database)).toMatchObject([{ lastDay: { accepted: 1 } }]);
  });
});
