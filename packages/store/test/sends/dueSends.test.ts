import { judge, simulate } from '@onecode/domain';
import { changeSend, takeDueSends, type DueSend } from '@onecode/store';
import { buildCaller, buildSend, useTestDatabase, type TestCaller } from '@onecode/testing';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();
let live: TestCaller;
let test: TestCaller;
beforeAll(async () => {
  live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  test = await buildCaller(store.database, 'test');
});
beforeEach(() => store.sql('truncate sends cascade'));

const { age } = sendActions(store);
const take = (limit = 100, onlyOver = false) => takeDueSends(store.database, limit, onlyOver);
const ids = (taken: readonly DueSend[]): string[] => taken.map(({ id }) => id).toSorted();
/** As if every job had been due that much earlier; or one send's. */
const laterAll = (seconds: number) =>
  store.sql('update sends set next_enqueue_at = next_enqueue_at - make_interval(secs => $1)', [seconds]);
const later = (seconds: number, id: string) =>
  store.sql('update sends set next_enqueue_at = next_enqueue_at - make_interval(secs => $1) where id = $2', [
    seconds,
    id,
  ]);
/** The right code was given. */
const use = (id: string) => changeSend(store.database, { id }, (send, now) => judge(send, now, () => true));

describe('sends that are due to be enqueued', () => {
  it('are not those that were made less than two seconds ago: their own job is under way', async () => {
    const id = await buildSend(store.database, live);
    const [row] = await store.sql(
      'select extract(epoch from next_enqueue_at - created_at)::float8 as wait from sends where id = $1',
      [id],
    );
    expect(row).toEqual({ wait: 2 });
    await laterAll(2);
    expect(ids(await take())).toEqual([id]);
  });

  it('are taken once, and again when nothing became of the job for three seconds', async () => {
    const id = await buildSend(store.database, live);
    await laterAll(2);
    expect(await take()).toEqual([
      { id, accountId: live.accountId, mode: 'live', version: 0, isOver: false },
    ]);
    expect(await take()).toEqual([]);
    await laterAll(3);
    expect(ids(await take())).toEqual([id]);
  });

  it('go each to one of several sweeps at once', async () => {
    const made = await Promise.all(Array.from({ length: 120 }, () => buildSend(store.database, live)));
    await laterAll(10);
    const sweeps = Array.from({ length: 6 }, async () => {
      const mine: DueSend[] = [];
      for (;;) {
        const batch = await take(7);
        mine.push(...batch);
        if (batch.length === 0) return mine;
      }
    });
    const all = (await Promise.all(sweeps)).flat();
    expect(all).toHaveLength(120);
    expect(ids(all)).toEqual(made.toSorted());
  });

  it('are those due longest, up to the limit', async () => {
    const [one, two, three] = [
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, live),
    ];
    await laterAll(10);
    await later(100, two);
    await later(50, three);
    expect(ids(await take(1))).toEqual([two]);
    expect(ids(await take(1))).toEqual([three]);
    expect(ids(await take(1))).toEqual([one]);
  });

  it('tell their mode, their version, and whether a live one’s code is of no use any more', async () => {
    const [young, used, old, oldTest] = [
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, test),
    ];
    await changeSend(store.database, { id: young }, (send) => ({
      result: null,
      change: { dueAt: send.createdAt },
    }));
    await use(used);
    await age(old, 600);
    await age(oldTest, 600);
    await laterAll(10);
    const taken = Object.fromEntries(
      (await take()).map(({ id, mode, version, isOver }) => [id, { mode, version, isOver }]),
    );
    expect(taken).toEqual({
      [young]: { mode: 'live', version: 1, isOver: false },
      [used]: { mode: 'live', version: 1, isOver: true },
      [old]: { mode: 'live', version: 0, isOver: true },
      [oldTest]: { mode: 'test', version: 0, isOver: false },
    });
  });

  it('without a queue are only the live ones whose code is of no use any more; the others stay due', async () => {
    const [young, used, old, oldTest, usedTest] = [
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, test),
      await buildSend(store.database, test),
    ];
    await use(used);
    await use(usedTest);
    await age(old, 600);
    await age(oldTest, 600);
    await laterAll(10);
    expect(ids(await take(100, true))).toEqual([used, old].toSorted());
    expect(ids(await take(100, false))).toEqual([young, oldTest, usedTest].toSorted());
  });

  it('are none that is settled', async () => {
    const id = await buildSend(store.database, test);
    await changeSend(store.database, { id }, simulate);
    await laterAll(1000);
    expect(await take()).toEqual([]);
  });
});
