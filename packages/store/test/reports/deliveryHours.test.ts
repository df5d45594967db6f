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
const count = () => countDeliveryHours(store.database, new AbortController().signal);
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
    const [active] = await insert(1, 'sent');
    await store.sql(`update sends set expires_at = now() + interval '1 minute' where id = $1`, [active]);
    await count();
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
    const [fromOther] = await insert(4, 'read');
    await store.sql(`update sends set country = 'AR' where id = $1`, [toArgentina]);
    await store.sql('update sends set sender_id = $1 where id = $2', [other, fromOther]);
    await count();
    expect(await readDeliveries(store.database)).toMatchObject([
      { country: 'AR', senderId, lastDay: { accepted: 1, undelivered: 1 } },
      { country: 'BR', senderId: other, lastDay: { accepted: 1, undelivered: 0 } },
    ]);
  });

  it('counts an hour again when it is 2, 4, 8 and 24 hours old, with receipts that arrived late', async () => {
    const counted = async () => {
      await nextHour();
      await count();
      const rows = await store.sql<{ accepted: number; undelivered: number }>(
        'select accepted, undelivered from delivery_hours',
      );
      return rows.map(({ accepted, undelivered }) => `${accepted} ${undelivered}`);
    };
    const [late] = await insert(1, 'sent');
    expect(await counted()).toEqual(['1 1']);
    await store.sql(`update sends set status = 'delivered', delivered_at = now() where id = $1`, [late]);
    await count();
    expect(await store.sql('select undelivered from delivery_hours')).toEqual([{ undelivered: 1 }]);
    expect(await counted()).toEqual(['1 0']);
    for (const hours of [24, 8, 4, 2]) {
      await store.sql('truncate sends, delivery_hours cascade');
      await insert(hours, 'sent');
      expect(await counted()).toEqual(['1 1']);
    }
  });

  it('counts each message of an hour once, at the beginning, the end and each part of it', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
    const offsets = [-1, 0, 299_999, 300_000, 1_800_000, HOUR_MS - 1, HOUR_MS];
    for (const offset of offsets) await insert(0, 'sent', { at: new Date(hour + offset) });
    await count();
    expect(
      await store.sql('select accepted, undelivered from delivery_hours where hour = $1', [new Date(hour)]),
    ).toEqual([{ accepted: 5, undelivered: 5 }]);
  });

  it('continues in the next hour after it was stopped', async () => {
    await insert(2, 'sent');
    await countDeliveryHours(store.database, AbortSignal.abort());
    expect(await readDeliveries(store.database)).toEqual([]);
    await nextHour();
    await count();
    expect(await readDeliveries(store.database)).toMatchObject([{ lastDay: { accepted: 1 } }]);
  });

  it('keeps the counts of the week before, even after the sends are deleted, and deletes older counts', async () => {
    await insert(2, 'sent');
    await count();
    await store.sql('truncate sends cascade');
    await age(48);
    await nextHour();
    await count();
    expect(await readDeliveries(store.database)).toMatchObject([
      { lastDay: { accepted: 0, undelivered: 0 }, weekBefore: { accepted: 1, undelivered: 1 } },
    ]);
    await age(7 * 24);
    await nextHour();
    await count();
    expect(await store.sql('select from delivery_hours')).toEqual([]);
  });

  it('runs once an hour, also with several workers', async () => {
    await insert(2, 'sent');
    await Promise.all([count(), count(), count()]);
    await store.sql('truncate delivery_hours');
    await count();
    expect(await readDeliveries(store.database)).toEqual([]);
  });
});
