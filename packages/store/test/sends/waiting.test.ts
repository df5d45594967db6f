import {
  blockCountry,
  changeRoutedSend,
  closeDatabase,
  createSend,
  deletePastTurns,
  findSend,
  newId,
  openDatabase,
  pauseSender,
  placeHold,
  resumeSender,
  stopLanguage,
  takeDueSends,
  wakeAwaitingSends,
  type Database,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();

describe('sends that wait for a sender', () => {
  const HORIZON_MS = 1000;

  let live: TestCaller;
  beforeAll(async () => {
    live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  });
  beforeEach(() => store.sql('truncate sends, senders, sender_recipient_windows cascade'));

  const { age, ...actions } = sendActions(store);

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

describe('turns', () => {
  const HORIZON_MS = 1000;

  beforeEach(() =>
    store.sql('truncate sends, senders, sender_recipient_windows, account_turns, holds cascade'),
  );

  const accounts = (count: number): Promise<TestCaller[]> =>
    Promise.all(
      Array.from({ length: count }, () => buildCaller(store.database, 'live', { freeQuota: 1000 })),
    );

  let recipients = 0;
  /** Makes so many sends that wait for a sender, each for another recipient, one a millisecond. */
  async function waiting(
    { accountId, applicationId }: TestCaller,
    count: number,
    country: string | null = 'BR',
  ): Promise<void> {
    recipients += count;
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, canonical_recipient,
         country, locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, next_enqueue_at, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', m.latest + n, '+55119' || ($4 + n), '+55119' || ($4 + n), $5, 'pt-BR',
         'free_quota', decode(repeat('01', 33), 'hex'), 'x', true, made + interval '10 minutes', made + interval '10 minutes', made,
         made + interval '10 minutes'
       from generate_series(1, $3::integer) n,
         lateral (select coalesce(max(application_number), 0) as latest from sends where application_id = $2) m,
         lateral (select clock_timestamp() - interval '1 minute' + n * interval '1 millisecond' as made) t`,
      [accountId, applicationId, count, 10_000_000 + recipients, country],
    );
  }

  /** Wakes so many. @returns their accounts' positions in `callers`, in the order of their turns */
  async function wakeTurns(callers: readonly TestCaller[], limit: number): Promise<number[]> {
    const woken = await wakeAwaitingSends(store.database, limit, HORIZON_MS);
    const rows = await store.sql<{ account_id: string }>(
      'select account_id from unnest($1::uuid[]) with ordinality w (id, n) join sends using (id) order by n',
      [woken.map(({ id }) => id)],
    );
    return rows.map((row) => callers.findIndex(({ accountId }) => accountId === row.account_id));
  }
  const count = (turns: readonly number[], caller: number): number =>
    turns.filter((turn) => turn === caller).length;

  describe('accounts whose sends wait', () => {
    it('have three turns for one with weight 3', async () => {
      const callers = await accounts(2);
      await store.sql('update accounts set weight = 3 where id = $1', [callers[0]!.accountId]);
      for (const caller of callers) await waiting(caller, 60);
      await buildSender(store.database, { throughput: 1000 });
      const turns = [];
      for (let batch = 0; batch < 8; batch++) turns.push(...(await wakeTurns(callers, 5)));
      expect([count(turns, 0), count(turns, 1)]).toEqual([30, 10]);
    });

    it('wait for no more than a round behind 5,000 sends of another, and none of these is read before its turn', async () => {
      const callers = await accounts(2);
      await waiting(callers[0]!, 5_000);
      await buildSender(store.database, { throughput: 1000 });
      expect(await wakeTurns(callers, 50)).toEqual(Array.from({ length: 50 }, () => 0));
      await waiting(callers[1]!, 1);
      expect((await wakeTurns(callers, 50)).slice(0, 2)).toContain(1);
    });

    it('each have their first turn before any has a second', async () => {
      const callers = await accounts(20);
      await waiting(callers[0]!, 200);
      for (const caller of callers.slice(1)) await waiting(caller, 2);
      await buildSender(store.database, { throughput: 1000 });
      const first = await wakeTurns(callers, 20);
      expect(first.toSorted((a, b) => a - b)).toEqual(callers.map((_, n) => n));
    });

    it('share slots alike when several callers wake at once, each slot once', async () => {
      const callers = await accounts(4);
      for (const caller of callers) await waiting(caller, 50);
      await buildSender(store.database, { throughput: 80 });
      const batches = await Promise.all(Array.from({ length: 8 }, () => wakeTurns(callers, 5)));
      let turns = batches.flat();
      for (let more = [0]; more.length > 0; turns = [...turns, ...more]) more = await wakeTurns(callers, 5);
      // As many as the sender has slots within a second, and a little more of the time that passed meanwhile.
      expect(turns.length).toBeGreaterThanOrEqual(79);
      const shares = callers.map((_, n) => count(turns, n));
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    });

    it('are promised every slot once by four processes that wake at once', async () => {
      const callers = await accounts(5);
      for (const caller of callers) await waiting(caller, 60);
      await buildSender(store.database, { throughput: 90 });
      // Far ahead, so that no slot passes while the test is slow.
      const [from] = await store.sql<{ at: Date }>(
        `insert into send_slots (sender_id, promised_to) select id, date_trunc('milliseconds', clock_timestamp() + interval '1 minute')
         from senders returning promised_to as at`,
      );
      const databases = Array.from({ length: 4 }, () =>
        openDatabase(store.url, { connectionsMax: 2, byIndexOnly: true }),
      );
      const woken: string[] = [];
      const wakeAll = async (database: Database): Promise<void> => {
        while (woken.length < 300)
          woken.push(...(await wakeAwaitingSends(database, 7, 120_000)).map(({ id }) => id));
      };
      await Promise.all(databases.map(wakeAll));
      await Promise.all(databases.map(closeDatabase));
      expect([woken.length, new Set(woken).size]).toEqual([300, 300]);
      const [to] = await store.sql<{ slots: number }>(
        `select round(extract(epoch from promised_to - $1) * 1000000 / ceil(10000000.0 / (9 * 90)), 4)::float8 as slots from send_slots`,
        [from!.at],
      );
      expect(to!.slots).toBe(300);
    });

    it('are charged no turn for a slot that they did not get', async () => {
      const callers = await accounts(2);
      for (const caller of callers) await waiting(caller, 30);
      await buildSender(store.database, { throughput: 10 });
      const first = await wakeTurns(callers, 100);
      expect(Math.abs(count(first, 0) - count(first, 1))).toBeLessThanOrEqual(1);
      await store.sql(`update send_slots set promised_to = promised_to - interval '1 second'`);
      const all = [...first, ...(await wakeTurns(callers, 100))];
      expect(Math.abs(count(all, 0) - count(all, 1))).toBeLessThanOrEqual(1);
    });

    it('have no turn for sends that no sender may serve, and these hold up neither them nor others', async () => {
      const callers = await accounts(3);
      await waiting(callers[0]!, 300, 'US');
      await waiting(callers[0]!, 4, 'BR');
      await waiting(callers[1]!, 300, 'AR');
      await waiting(callers[2]!, 4, null);
      const { id: senderId } = await buildSender(store.database, { throughput: 1000 });
      await blockCountry(store.database, { senderId, country: 'US', seconds: 60, errorCode: null });
      await placeHold(store.database, TEST_ACTOR, {
        kind: 'account',
        target: callers[1]!.accountId,
        reason: 'a test',
      });
      const turns = await wakeTurns(callers, 10);
      expect([count(turns, 0), count(turns, 1), count(turns, 2)]).toEqual([4, 0, 4]);
    });

    it('are forgotten once their turns are over, all but the latest', async () => {
      const callers = await accounts(3);
      for (const [n, caller] of callers.entries()) await waiting(caller, [1, 1, 6][n]!);
      await buildSender(store.database, { throughput: 1000 });
      while ((await wakeTurns(callers, 8)).length > 0);
      await deletePastTurns(store.database);
      const left = await store.sql<{ account_id: string }>('select account_id from account_turns');
      expect(left.map(({ account_id: id }) => id)).toEqual([callers[2]!.accountId]);
    });
  });

  describe('a new send', () => {
    const create = async (caller: TestCaller) => {
      const creation = await createSend(store.database, newSend(caller));
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return creation.send;
    };

    it('waits for its account’s turn while others wait, and overtakes none of them', async () => {
      const callers = await accounts(2);
      await buildSender(store.database);
      await waiting(callers[0]!, 200);
      while ((await wakeTurns(callers, 100)).length > 0);
      const send = await create(callers[1]!);
      expect(send).toMatchObject({ awaitingSender: true, dueAt: send.expiresAt });
      await store.sql(`update send_slots set promised_to = promised_to - interval '250 milliseconds'`);
      expect((await wakeTurns(callers, 100)).slice(0, 2)).toContain(1);
    });

    it('goes out at once while nobody waits, and when there is no sender is left to find that out', async () => {
      const [caller] = await accounts(1);
      expect(await create(caller!)).toMatchObject({ awaitingSender: false });
      await buildSender(store.database);
      const send = await create(caller!);
      expect(send.awaitingSender).toBe(false);
      const changed = await changeRoutedSend(store.database, send.id, (_send, _now, slot) => ({
        result: slot,
      }));
      expect(changed?.result).toMatchObject({ waitMs: 0 });
    });
  });
});
