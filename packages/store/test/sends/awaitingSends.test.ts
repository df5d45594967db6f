import {
  blockCountry,
  findSend,
  pauseSender,
  newId,
  resumeSender,
  stopLanguage,
  takeDueSends,
  wakeAwaitingSends,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  TEST_ACTOR,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from './sendActions.js';

const HORIZON_MS = 1000;

const store = useTestDatabase();
let live: TestCaller;
beforeAll(async () => {
  live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
});
beforeEach(() => store.sql('truncate sends, senders, sender_recipient_windows cascade'));

const { age, ...actions } = sendActions(store);

describe('sends that wait for a sender', () => {
  const waiting = (wishes: SendOptions = {}) => actions.waiting(live, wishes);
  const wake = async (limit = 100) => (await wakeAwaitingSends(store.database, limit, HORIZON_MS)).length;
  const isAwaiting = async (id: string) =>
    (await findSend(store.database, live.accountId, id))!.send.awaitingSender;

  it('stay asleep while every sender is stopped for their language, and the others are woken', async () => {
    const { id: senderId } = await buildSender(store.database);
    const [english, portuguese] = [await waiting({ locale: 'en' }), await waiting({ locale: 'pt-BR' })];
    const fault = { senderId, attemptId: newId(), source: 'answer', locale: 'en' } as const;
    const stop = { failuresBefore: 0, seconds: 60, errorCode: 132015, reason: 'The template is paused.' };
    expect(await stopLanguage(store.database, fault, stop)).toBe(true);
    expect(await wake()).toBe(1);
    expect([await isAwaiting(english), await isAwaiting(portuguese)]).toEqual([true, false]);
    await resumeSender(store.database, TEST_ACTOR, senderId);
    expect(await wake()).toBe(1);
    expect(await isAwaiting(english)).toBe(false);
  });

  it('are woken once by a new sender: due at once in a new version, which the caller enqueues', async () => {
    const id = await waiting();
    const [before] = await store.sql('select version from sends where id = $1', [id]);
    await buildSender(store.database);
    const version = (before!['version'] as number) + 1;
    expect(await wakeAwaitingSends(store.database, 100, HORIZON_MS)).toEqual([{ id, version }]);
    expect(await wake()).toBe(0);
    const [row] = await store.sql(
      'select version, awaiting_sender, due_at <= clock_timestamp() as due from sends where id = $1',
      [id],
    );
    expect(row).toEqual({ version, awaiting_sender: false, due: true });
    // That job may be lost.
    await store.sql(`update sends set next_enqueue_at = next_enqueue_at - interval '3 seconds'`);
    expect(await takeDueSends(store.database, 100, false)).toMatchObject([{ id, version }]);
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
    await pauseSender(store.database, TEST_ACTOR, other.id);
    await waiting();
    expect(await wake()).toBe(0);
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

  it('are woken newest first within an account, up to the limit', async () => {
    const [newer, older] = [await waiting(), await waiting()];
    await age(older, 60);
    await buildSender(store.database);
    expect(await wake(1)).toBe(1);
    expect([await isAwaiting(newer), await isAwaiting(older)]).toEqual([false, true]);
  });

  it('are not woken when too little is left of their code’s life', async () => {
    const id = await waiting();
    await age(id, 571);
    await buildSender(store.database);
    expect(await wake()).toBe(0);
    await age(id, -3);
    expect(await wake()).toBe(1);
  });

  it('are left to their end once their deadline has come', async () => {
    const id = await waiting();
    await age(id, 600);
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

  it('are woken as far as there are slots, however many callers wake at once, newest first', async () => {
    const ids = [];
    for (let n = 0; n < 30; n++) ids.push(await waiting({ recipient: `+55119876543${10 + n}` }));
    await buildSender(store.database, { throughput: 10 });
    const woken = (await Promise.all(Array.from({ length: 6 }, () => wake()))).reduce((sum, n) => sum + n);
    // One at once and eight more, one every ninth of a second; a little later, the tenth.
    expect([9, 10]).toContain(woken);
    const left = await store.sql<{ id: string }>('select id from sends where awaiting_sender');
    expect(left.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, -woken).toSorted());
  });

  it('are woken again for slots that were promised and not taken', async () => {
    for (let n = 0; n < 30; n++) await waiting({ recipient: `+55119876543${10 + n}` });
    await buildSender(store.database, { throughput: 10 });
    expect(await wake()).toBe(9);
    await store.sql(`update send_slots set promised_to = promised_to - interval '1 hour'`);
    expect(await wake()).toBe(9);
  });

  it('are woken for slots that others leave', async () => {
    for (let n = 0; n < 5; n++) await waiting();
    await buildSender(store.database, { throughput: 10 });
    await store.sql(
      `insert into send_slots (sender_id, free_at) select id, clock_timestamp() + interval '850 milliseconds' from senders`,
    );
    expect(await wake()).toBe(2);
  });

  it('and whose recipient has had enough for now hold up nobody, and come back one by one', async () => {
    const { id: senderId } = await buildSender(store.database);
    const recipient = '+5511987654321';
    const other = await waiting();
    const enough = [await waiting({ recipient }), await waiting({ recipient })];
    await store.sql(
      `insert into sender_recipient_windows (sender_id, recipient_hash, free_at)
       select $1, hashtextextended('+5511987654321', 0), clock_timestamp() + interval '5 seconds'`,
      [senderId],
    );
    expect(await wakeAwaitingSends(store.database, 100, HORIZON_MS)).toMatchObject([{ id: other }]);
    expect(await wake()).toBe(0);
    // They are due when the window lets them through, without a look at them before.
    const rows = await store.sql(
      `select awaiting_sender, round(extract(epoch from due_at - p.free_at))::integer as after_s, next_enqueue_at = due_at as enqueued
       from sends, sender_recipient_windows p where sends.id = any($1) order by due_at`,
      [enough],
    );
    expect(rows).toEqual([
      { awaiting_sender: false, after_s: 0, enqueued: true },
      { awaiting_sender: false, after_s: 6, enqueued: true },
    ]);
  });
});
