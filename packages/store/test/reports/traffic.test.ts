import type { TrafficCount } from '@onecode/domain';
import { addTraffic, createTrafficCounter, mergeOldTraffic, readTraffic } from '@onecode/store';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
beforeEach(() => store.sql('delete from traffic_counts'));

const count = (times: number, more: Partial<TrafficCount> = {}): TrafficCount => ({
  event: 'failed',
  country: 'BR',
  senderId: 'a',
  reason: 'attempts_exhausted',
  count: times,
  ...more,
});

describe('traffic', () => {
  it('is added up, whoever counts, and in whatever order', async () => {
    const counts = [count(1), count(2, { senderId: 'b' }), count(3, { country: 'MX' })];
    await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        addTraffic(store.database, nth % 2 === 0 ? counts : counts.toReversed()),
      ),
    );
    const { totals, fiveMinutes, twoMinutes } = await readTraffic(store.database);
    expect(totals).toEqual([
      { event: 'failed', country: 'BR', reason: 'attempts_exhausted', count: 60 },
      { event: 'failed', country: 'MX', reason: 'attempts_exhausted', count: 60 },
    ]);
    expect(fiveMinutes).toHaveLength(3);
    expect(fiveMinutes).toEqual(twoMinutes);
  });

  it('leaves the last minutes with the time, and the totals never', async () => {
    await addTraffic(store.database, [count(4)]);
    await store.sql(`update traffic_counts set began_at = began_at - interval '3 minutes'`);
    await addTraffic(store.database, [count(5)]);
    const [recent] = (await readTraffic(store.database)).twoMinutes;
    expect(recent).toEqual(count(5));
    expect((await readTraffic(store.database)).fiveMinutes.reduce((sum, one) => sum + one.count, 0)).toBe(9);

    for (let round = 0; round < 2; round++) {
      await store.sql(`update traffic_counts set began_at = began_at - interval '20 minutes'
        where began_at > '-infinity'`);
      await Promise.all(Array.from({ length: 5 }, () => mergeOldTraffic(store.database)));
      await addTraffic(store.database, [count(1, { event: 'delivered', reason: '' })]);
    }
    const { totals, fiveMinutes } = await readTraffic(store.database);
    expect(totals).toEqual([
      { event: 'delivered', country: 'BR', reason: '', count: 2 },
      { event: 'failed', country: 'BR', reason: 'attempts_exhausted', count: 9 },
    ]);
    expect(fiveMinutes).toEqual([count(1, { event: 'delivered', reason: '' })]);
    const rows = await store.sql(`select from traffic_counts where began_at = '-infinity'`);
    expect(rows).toHaveLength(2);
  });

  it('that could not be written is written the next time', async () => {
    const counter = createTrafficCounter();
    const { count: _, ...key } = count(1);
    counter.count(key);
    await store.sql('alter table traffic_counts rename to away');
    await expect(counter.flush(store.database)).rejects.toThrow('TableDoesNotExist');
    counter.count(key);
    await store.sql('alter table away rename to traffic_counts');
    await counter.flush(store.database);
    await counter.flush(store.database);
    expect((await readTraffic(store.database)).fiveMinutes).toEqual([count(2)]);
  });
});
