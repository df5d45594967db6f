import {
  blockCountry,
  changeRoutedSend,
  closeDatabase,
  createSend,
  deletePastTurns,
  openDatabase,
  placeHold,
  wakeAwaitingSends,
  type Database,
} from '@onecode/store';
import {
  buildCaller,
  buildSender,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const HORIZON_MS = 1000;

const store = useTestDatabase();
beforeEach(() =>
  store.sql('truncate sends, senders, sender_recipient_windows, account_turns, holds cascade'),
);

const accounts = (count: number): Promise<TestCaller[]> =>
  Promise.all(Array.from({ length: count }, () => buildCaller(store.database, 'live', { freeQuota: 1000 })));

let recipients = 0;
/** Makes so many sends that wait for a sender, each for another recipient, one a millisecond. */
async function waiting(
  { accountId, applicationId }: TestCaller,
  count: number,
  country: string | null = 'BR',
): Promise<void> {
  recipients += count;
  await store.sql(
    `insert into sends (id, request_id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient,
       country, locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, next_enqueue_at, created_at, expires_at)
     select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', m.latest + n, m.latest + n, '+55119' || ($4 + n), '+55119' || ($4 + n), $5, 'pt-BR',
       'free_quota', decode(repeat('01', 33), 'hex'), 'x', true, made + interval '10 minutes', made + interval '10 minutes', made,
       made + interval '10 minutes'
     from generate_series(1, $3::integer) n,
       lateral (select coalesce(max(account_number), 0) as latest from sends where account_id = $1) m,
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

  it('wait for no more than a round behind 20,000 sends of another, and none of these is read before its turn', async () => {
    const callers = await accounts(2);
    await waiting(callers[0]!, 20_000);
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
