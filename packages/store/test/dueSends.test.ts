import { simulate } from '@onecode/domain';
import {
  blockCountry,
  changeSend,
  findSend,
  pauseSender,
  restSender,
  resumeSender,
  takeDueSends,
  wakeAwaitingSends,
  type DueSend,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  createTestDatabase,
  type SendWishes,
  type TestCaller,
  type TestDatabase,
} from '@onecode/store/testing';

let store: TestDatabase;
let live: TestCaller;
let test: TestCaller;
beforeAll(async () => {
  store = await createTestDatabase();
  live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  test = await buildCaller(store.database, 'test');
});
afterAll(() => store.drop());
beforeEach(() => store.sql('truncate sends, senders cascade'));

const take = (limit = 100, onlyExpired = false) => takeDueSends(store.database, limit, onlyExpired);
const ids = (taken: readonly DueSend[]): string[] => taken.map(({ id }) => id).toSorted();
/** As if every ring had been due that much earlier; or one send's. */
const laterAll = (seconds: number) =>
  store.sql('update sends set ring_at = ring_at - make_interval(secs => $1)', [seconds]);
const later = (seconds: number, id: string) =>
  store.sql('update sends set ring_at = ring_at - make_interval(secs => $1) where id = $2', [seconds, id]);
/** As if the send had been made that much earlier. */
const aged = (id: string, seconds: number) =>
  store.sql(
    `update sends set created_at = created_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2)
     where id = $1`,
    [id, seconds],
  );

describe('sends whose ring is due', () => {
  it('are not those that were made less than two seconds ago: their own ring is under way', async () => {
    const id = await buildSend(store.database, live);
    const [row] = await store.sql(
      'select extract(epoch from ring_at - created_at)::float8 as wait from sends where id = $1',
      [id],
    );
    expect(row).toEqual({ wait: 2 });
    await laterAll(2);
    expect(ids(await take())).toEqual([id]);
  });

  it('are taken once, and again when nothing became of the ring for three seconds', async () => {
    const id = await buildSend(store.database, live);
    await laterAll(2);
    expect(await take()).toEqual([{ id, mode: 'live', version: 0, expired: false }]);
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

  it('are the longest due first, as many as wanted', async () => {
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

  it('tell their mode, their version, and whether a live one’s deadline has come', async () => {
    const [young, old, oldTest] = [
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, test),
    ];
    await changeSend(store.database, { id: young }, (send) => ({
      result: null,
      change: { dueAt: send.createdAt },
    }));
    await aged(old, 600);
    await aged(oldTest, 600);
    await laterAll(10);
    const taken = Object.fromEntries((await take()).map(({ id, ...rest }) => [id, rest]));
    expect(taken).toEqual({
      [young]: { mode: 'live', version: 1, expired: false },
      [old]: { mode: 'live', version: 0, expired: true },
      [oldTest]: { mode: 'test', version: 0, expired: false },
    });
  });

  it('without a queue are only the live ones whose deadline has come; the others stay due', async () => {
    const [young, old, oldTest] = [
      await buildSend(store.database, live),
      await buildSend(store.database, live),
      await buildSend(store.database, test),
    ];
    await aged(old, 600);
    await aged(oldTest, 600);
    await laterAll(10);
    expect(ids(await take(100, true))).toEqual([old]);
    expect(ids(await take(100, false))).toEqual([young, oldTest].toSorted());
  });

  it('are none that is settled', async () => {
    const id = await buildSend(store.database, test);
    await changeSend(store.database, { id }, simulate);
    await laterAll(1000);
    expect(await take()).toEqual([]);
  });
});

describe('sends that wait for a sender', () => {
  async function waiting(wishes: SendWishes = {}): Promise<string> {
    const id = await buildSend(store.database, live, wishes);
    await changeSend(store.database, { id }, (send) => ({
      result: null,
      change: { awaitingSender: true, dueAt: send.expiresAt },
    }));
    return id;
  }
  const wake = (limit = 100) => wakeAwaitingSends(store.database, limit);
  const isAwaiting = async (id: string) =>
    (await findSend(store.database, live.accountId, id))!.send.awaitingSender;

  it('are not woken while there is no sender', async () => {
    await waiting();
    expect(await wake()).toBe(0);
  });

  it('are woken once by a new sender: due and rung at once, in a new version', async () => {
    const id = await waiting();
    const [before] = await store.sql('select version from sends where id = $1', [id]);
    await buildSender(store.database);
    expect(await wake()).toBe(1);
    expect(await wake()).toBe(0);
    const [row] = await store.sql(
      `select version, awaiting_sender, due_at <= clock_timestamp() as due, ring_at <= clock_timestamp() as rung
       from sends where id = $1`,
      [id],
    );
    expect(row).toEqual({
      version: (before!['version'] as number) + 1,
      awaiting_sender: false,
      due: true,
      rung: true,
    });
    expect(ids(await take())).toEqual([id]);
  });

  it('are not woken by a sender that is paused or rests, and are when that ends', async () => {
    const id = await waiting();
    const sender = await buildSender(store.database);
    await pauseSender(store.database, sender.id);
    expect(await wake()).toBe(0);
    await resumeSender(store.database, sender.id);
    await restSender(store.database, sender.id, { faultsBefore: 0, seconds: 60, reason: 'fault' });
    expect(await wake()).toBe(0);
    await store.sql(`update senders set paused_until = now() - interval '1 second'`);
    expect(await wake()).toBe(1);
    expect(await isAwaiting(id)).toBe(false);
  });

  it('are woken only by a sender that may message their country', async () => {
    const id = await waiting();
    const sender = await buildSender(store.database);
    const block = { senderId: sender.id, seconds: 60, errorCode: 130497 };
    await blockCountry(store.database, { ...block, country: 'BR' });
    expect(await wake()).toBe(0);
    const other = await buildSender(store.database);
    await blockCountry(store.database, { ...block, senderId: other.id, country: 'US' });
    expect(await wake()).toBe(1);
    expect(await isAwaiting(id)).toBe(false);
  });

  it('are woken when the block of their country has ended', async () => {
    await waiting();
    const sender = await buildSender(store.database);
    await blockCountry(store.database, { senderId: sender.id, country: 'BR', seconds: 60, errorCode: null });
    await store.sql(`update sender_country_blocks set blocked_until = now() - interval '1 second'`);
    expect(await wake()).toBe(1);
  });

  it('of no country are woken by any sender', async () => {
    const id = await waiting();
    await store.sql('update sends set country = null where id = $1', [id]);
    const sender = await buildSender(store.database);
    await blockCountry(store.database, { senderId: sender.id, country: 'BR', seconds: 60, errorCode: null });
    expect(await wake()).toBe(1);
  });

  it('are woken oldest first, as many as wanted', async () => {
    const [newer, older] = [await waiting(), await waiting()];
    await aged(older, 60);
    await buildSender(store.database);
    expect(await wake(1)).toBe(1);
    expect([await isAwaiting(newer), await isAwaiting(older)]).toEqual([true, false]);
  });

  it('are left to their end once their deadline has come', async () => {
    const id = await waiting();
    await aged(id, 600);
    await buildSender(store.database);
    expect(await wake()).toBe(0);
    expect(await isAwaiting(id)).toBe(true);
  });

  it('are the only ones that are woken', async () => {
    const id = await buildSend(store.database, live);
    await buildSender(store.database);
    expect(await wake()).toBe(0);
    expect((await findSend(store.database, live.accountId, id))!.send.dueAt).not.toBeNull();
  });

  it('are woken once by several sweeps at once', async () => {
    for (let n = 0; n < 40; n++) await waiting();
    await buildSender(store.database);
    const woken = await Promise.all(Array.from({ length: 6 }, () => wake(15)));
    const rest = await wake(100);
    expect(woken.reduce((sum, count) => sum + count, rest)).toBe(40);
  });
});
